import type { FrontEnd } from "../frontEnd.ts";
import { onStage } from "../stage.ts";
import { type ExampleServer, exampleServer, type Setup } from "./exampleServer.ts";

/** A sidecar with the example server, which is configured as "journeys". */
export interface Scene {
  readonly setup: Setup;
  readonly frontEnd: FrontEnd;
  readonly server: ExampleServer;
  /** Another installation, not started. The front end's sidecar cannot know its tasks on the server. */
  readonly elsewhere: FrontEnd;
}

/** Runs in a separate scene, which is removed afterwards. */
export async function inScene(setup: Setup, play: (scene: Scene) => Promise<void>): Promise<void> {
  await onStage("assent-mcp-tasks-", async (stage) => {
    const server = await exampleServer(setup, stage.folder, stage.environment);
    stage.atEnd(server.stop);
    const configuration = {
      servers: { journeys: server.config },
      model: { provider: "demo" },
    } as const;
    const name = "the test of MCP tasks";
    const frontEnd = await stage.frontEnd(name, "data", configuration);
    const elsewhere = await stage.frontEnd(name, "elsewhere", configuration);
    stage.atEnd(() => elsewhere.kill());
    return { frontEnd, play: () => play({ setup, frontEnd, server, elsewhere }) };
  });
}
