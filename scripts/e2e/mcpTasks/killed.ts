import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { assertPlanned, stepMs } from "./journey.ts";
import type { Scene } from "./scene.ts";

/** Where in a job's life the sidecar is killed: so many milliseconds after something happened. */
export interface Moment {
  readonly after: After;
  readonly ms: number;
}

const afters = ["begun", "asked 1", "answered 1", "asked 2", "answered 2"] as const;
type After = (typeof afters)[number];

/** The longest that a moment is after each: until the next, or a little into it. */
const longest: Readonly<Record<After, number>> = {
  begun: 5 * stepMs,
  "asked 1": 2 * stepMs,
  "answered 1": 5 * stepMs,
  "asked 2": 2 * stepMs,
  "answered 2": 4 * stepMs,
};

/**
 * The moments of ten jobs: two after each thing that happens in one, and more of them soon after than
 * late, for that is when something is on its way.
 */
export function tenMoments(random: () => number): Moment[] {
  return [...afters, ...afters].map((after) => ({
    after,
    ms: Math.round(random() * random() * longest[after]),
  }));
}

/** One job that is killed after everything that happens in it. */
export function everyMoment(random: () => number): Moment[] {
  return afters.map((after) => ({ after, ms: Math.round(random() * 20) }));
}

/** Runs a job. The sidecar is killed at these moments, and restarted each time. */
export async function killed(scene: Scene, moments: readonly Moment[]): Promise<void> {
  const { frontEnd } = scene;
  const call = await frontEnd.callTool("journeys", "plan_journey", { step_ms: stepMs });
  await frontEnd.begun(call);
  const at = async (now: After): Promise<void> => {
    for (const { after, ms } of moments) {
      if (after !== now) continue;
      await sleep(ms);
      const open = frontEnd.asksSince(call);
      await frontEnd.kill();
      await frontEnd.start();
      assertKept(open, frontEnd.asksSince(call));
    }
  };
  await at("begun");
  for (const nth of [1, 2] as const) {
    const { ask } = await frontEnd.ask(call, nth - 1);
    await at(`asked ${nth}`);
    const shown = await frontEnd.ask(call, nth - 1);
    assert.equal(shown.ask.askId, ask.askId, "the ask is another one after the restart");
    assert.equal(shown.ask.outcome, undefined, "the ask was settled by the restart");
    // The sidecar may be killed before it has the answer, or before it can say so.
    const acknowledged = frontEnd.answer(shown).then(
      () => true,
      () => false,
    );
    await at(`answered ${nth}`);
    const kept = frontEnd.asksSince(call)[nth - 1]?.ask.outcome !== undefined;
    if (await acknowledged) {
      await frontEnd.until(
        "the answer's outcome",
        () => frontEnd.asksSince(call)[nth - 1]?.ask.outcome,
      );
    } else if (!kept) {
      await frontEnd.answer(shown);
    }
  }
  await assertPlanned(scene, call, moments.length);
}

/** Everything shown before a restart is still there, under the same name, and settled no further. */
function assertKept(
  before: ReturnType<Scene["frontEnd"]["asksSince"]>,
  after: ReturnType<Scene["frontEnd"]["asksSince"]>,
): void {
  for (const [i, { ask }] of before.entries()) {
    const now = after[i]?.ask;
    assert.equal(now?.askId, ask.askId);
    if (ask.outcome !== undefined) assert.deepEqual(now?.outcome, ask.outcome);
    else assert.ok(now?.outcome === undefined || now.outcome.reason === "answered");
  }
}
