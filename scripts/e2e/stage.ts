import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Configuration } from "@assent/protocol";
import { FrontEnd } from "./frontEnd.ts";
import { assertNoneLeft } from "./processes.ts";

/** The place of a story without a browser. */
export interface Stage {
  readonly folder: string;
  /** The home folder of the processes of the story. It is in {@link folder}, and empty at first. */
  readonly home: string;
  /** Each process of the story inherits it, and is found by it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Makes a front end on a new data folder of this name. It is not started. */
  frontEnd(name: string, dataFolder: string, configuration: Configuration): Promise<FrontEnd>;
  /** Has something ended after the front end of the story, the last one first. */
  atEnd(end: () => Promise<void>): void;
}

/** Sets a stage, plays the story with its front end, and leaves nothing behind. */
export async function onStage(
  prefix: string,
  set: (stage: Stage) => Promise<{ frontEnd: FrontEnd; play: () => Promise<void> }>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), prefix));
  const home = join(folder, "home");
  await mkdir(home);
  const environment = {
    ASSENT_TEST_FOLDER: folder,
    HOME: home,
    XDG_CONFIG_HOME: join(home, ".config"),
  };
  const ends: (() => Promise<void>)[] = [];
  const stage: Stage = {
    folder,
    home,
    environment,
    async frontEnd(name, data, configuration) {
      const dataFolder = join(folder, data);
      await mkdir(dataFolder);
      return new FrontEnd({ name, dataFolder, environment, configuration });
    },
    atEnd: (end) => ends.push(end),
  };
  try {
    const { frontEnd, play } = await set(stage);
    try {
      await frontEnd.start();
      await play();
      await frontEnd.stop();
    } catch (error) {
      await frontEnd.kill();
      throw error;
    }
  } finally {
    for (const end of ends.reverse()) await end();
    await assertNoneLeft(`ASSENT_TEST_FOLDER=${folder}`);
    await rm(folder, { recursive: true, force: true });
  }
}
