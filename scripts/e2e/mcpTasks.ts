// MCP tasks on the real sidecar and the real example server: followed, cancelled, and taken up again
// by the next sidecar when one was killed at any moment. `--seed N` repeats a run's moments.
import { parseArgs } from "node:util";
import { type Setup, setups } from "./mcpTasks/exampleServer.ts";
import { found, unlisted } from "./mcpTasks/found.ts";
import { cancelled, plain, withModel } from "./mcpTasks/journey.ts";
import { everyMoment, killed, tenMoments } from "./mcpTasks/killed.ts";
import { huge, misbehaving, sameKeyTwice } from "./mcpTasks/misbehaving.ts";
import { givenUp, visited } from "./mcpTasks/pages.ts";
import { inScene } from "./mcpTasks/scene.ts";
import { step } from "./step.ts";

const { values } = parseArgs({ options: { seed: { type: "string" } } });
const seed = values.seed === undefined ? Date.now() % 1_000_000 : Number(values.seed);
console.log(`  seed ${seed}: scripts/e2e/mcpTasks.ts --seed ${seed} has the same moments`);

/** The stories of one transport to a server. Each transport has its own sidecar. */
async function play(setup: Setup, index: number): Promise<void> {
  const name = `${setup.era} tasks over ${setup.transport}`;
  const random = randomNumbers(seed + index);
  await inScene(setup, async (scene) => {
    await step(`${name}: a job asks twice`, () => plain(scene));
    await step(`${name}: a person cancels a job`, () => cancelled(scene));
    await step(`${name}: a job asks the model`, () => withModel(scene));
    await step(`${name}: a server breaks the rules`, () => misbehaving(scene));
    await step(`${name}: two questions under one key`, () => sameKeyTwice(scene));
    if (setup.era === "modern") {
      await step(`${name}: no list is asked for`, () => unlisted(scene));
    } else {
      await step(`${name}: a job of another installation is found`, () => found(scene));
      await step(`${name}: the person visits two pages`, () => visited(scene));
      await step(`${name}: the person gives up on two pages`, () => givenUp(scene));
    }
    // After the lists, because a restarted server reads every task in its folder.
    await step(`${name}: a result that is too great`, () => huge(scene));
    for (const moment of tenMoments(random)) {
      const title = `${name}: killed ${moment.ms} ms after it had ${moment.after}`;
      await step(title, () => killed(scene, [moment]));
    }
    const moments = everyMoment(random);
    await step(`${name}: killed five times`, () => killed(scene, moments));
  });
}

/** Mulberry32: numbers from 0 to 1 that are the same for the same seed. */
function randomNumbers(start: number): () => number {
  let state = start;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const ends = await Promise.allSettled(setups.map(play));
for (const end of ends) {
  if (end.status === "rejected") {
    console.error(end.reason);
    process.exitCode = 1;
  }
}
