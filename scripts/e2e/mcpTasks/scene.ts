import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assertNoneLeft } from "../processes.ts";
import { type ExampleServer, exampleServer, type Setup } from "./exampleServer.ts";
import { FrontEnd } from "./frontEnd.ts";

/** A sidecar with the example server, which is configured as "journeys". */
export interface Scene {
  readonly setup: Setup;
  readonly frontEnd: FrontEnd;
  readonly server: ExampleServer;
}

/** Plays in a scene of its own, which leaves nothing behind. */
export async function inScene(setup: Setup, play: (scene: Scene) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "assent-mcp-tasks-"));
  const data = join(folder, "data");
  await mkdir(data);
  // Everything that is started here inherits it, and is found by it.
  const mark = `ASSENT_TEST_FOLDER=${folder}`;
  const environment = { ASSENT_TEST_FOLDER: folder };
  const server = await exampleServer(setup, folder, environment);
  const frontEnd = new FrontEnd(data, { journeys: server.config }, environment);
  try {
    await frontEnd.start();
    await play({ setup, frontEnd, server });
    await frontEnd.stop();
  } catch (error) {
    await frontEnd.kill();
    throw error;
  } finally {
    await server.stop();
    await assertNoneLeft(mark);
    await rm(folder, { recursive: true, force: true });
  }
}
