import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FrontEnd } from "../frontEnd.ts";
import { assertNoneLeft } from "../processes.ts";
import { type ExampleServer, exampleServer, type Setup } from "./exampleServer.ts";

/** A sidecar with the example server, which is configured as "journeys". */
export interface Scene {
  readonly setup: Setup;
  readonly frontEnd: FrontEnd;
  readonly server: ExampleServer;
  /** Another installation, not started: what it does on the server, the front end's sidecar cannot know. */
  readonly elsewhere: FrontEnd;
}

/** Plays in a scene of its own, which leaves nothing behind. */
export async function inScene(setup: Setup, play: (scene: Scene) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "assent-mcp-tasks-"));
  const data = join(folder, "data");
  const otherData = join(folder, "elsewhere");
  await mkdir(data);
  await mkdir(otherData);
  // Everything that is started here inherits it, and is found by it.
  const mark = `ASSENT_TEST_FOLDER=${folder}`;
  const environment = { ASSENT_TEST_FOLDER: folder };
  const server = await exampleServer(setup, folder, environment);
  const configuration = {
    servers: { journeys: server.config },
    model: { provider: "demo" },
  } as const;
  const frontEndOn = (dataFolder: string): FrontEnd =>
    new FrontEnd({ name: "the test of MCP tasks", dataFolder, environment, configuration });
  const frontEnd = frontEndOn(data);
  const elsewhere = frontEndOn(otherData);
  try {
    await frontEnd.start();
    await play({ setup, frontEnd, server, elsewhere });
    await frontEnd.stop();
  } catch (error) {
    await frontEnd.kill();
    throw error;
  } finally {
    await elsewhere.kill();
    await server.stop();
    await assertNoneLeft(mark);
    await rm(folder, { recursive: true, force: true });
  }
}
