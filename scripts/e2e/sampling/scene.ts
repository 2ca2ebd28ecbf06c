import { join } from "node:path";
import type { SamplingSettings } from "@assent/protocol";
import { features, type Version, versions } from "../../testservers/sampling/versions.mjs";
import { root } from "../../tools/lib/paths.ts";
import type { FrontEnd } from "../frontEnd.ts";
import { rawServer, type Transport } from "../rawServer.ts";
import { onStage } from "../stage.ts";
import { Models } from "./models.ts";

/** A revision, and a way to the server that speaks it. */
export interface Way {
  readonly version: Version;
  readonly transport: Transport;
}

/** Every revision over everything that it has. */
export const ways: readonly Way[] = versions.flatMap((version) => {
  const all: readonly Way[] = [
    { version, transport: "stdio" },
    { version, transport: "http" },
  ];
  return all.filter(({ transport }) => transport === "stdio" || features(version).streamableHttp);
});

/**
 * A sidecar with the raw sampling server, under three names: "lab" may use every model, "toolless" only models without
 * tools, and "crowd" is for tests that count asks.
 */
export interface Scene {
  readonly way: Way;
  readonly frontEnd: FrontEnd;
  readonly models: Models;
}

/** The limits are wide: a scene asks more in a few seconds than a server may in a minute. */
export const sampling: SamplingSettings = { limits: { requestsPerMinute: 10_000 } };

const program = join(root, "scripts", "testservers", "sampling.mjs");

/** Runs in a separate scene, which is removed afterwards. */
export async function inScene(way: Way, play: (scene: Scene) => Promise<void>): Promise<void> {
  await onStage("assent-sampling-", async (stage) => {
    const args = ["--era", way.version];
    const server = await rawServer(program, args, way.transport, stage.environment);
    stage.atEnd(server.stop);
    const models = await Models.start();
    stage.atEnd(() => models.stop());
    const { config } = server;
    const frontEnd = await stage.frontEnd("the test of sampling", "data", {
      servers: { lab: config, toolless: config, crowd: config },
      model: models.settings,
      sampling,
    });
    return { frontEnd, play: () => play({ way, frontEnd, models }) };
  });
}
