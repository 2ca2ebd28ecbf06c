import assert from "node:assert/strict";
import { assertPlanned, stepMs } from "./journey.ts";
import type { Scene } from "./scene.ts";

/** Leaves a journey at its first question, with an installation that is no more; the server's id of it. */
async function leaveBehind({ elsewhere }: Scene): Promise<string> {
  await elsewhere.start();
  const call = await elsewhere.callTool("journeys", "plan_journey", { step_ms: stepMs });
  await elsewhere.ask(call, 0);
  const { task } = elsewhere.call(call);
  assert(task);
  await elsewhere.kill();
  return task.taskId;
}

async function listed({ frontEnd }: Scene): Promise<readonly string[]> {
  const { mcpTasks = [], problems = [] } = await frontEnd.request(
    "mcpTask/listOfServers",
    undefined,
  );
  assert.deepEqual(problems, []);
  return mcpTasks.map(({ mcpTaskId }) => mcpTaskId);
}

/** A journey that only the server knows is found in its list, and followed to its end, through a kill. */
export async function found(scene: Scene): Promise<void> {
  const { frontEnd } = scene;
  const mcpTaskId = await leaveBehind(scene);
  await frontEnd.request("server/restart", { serverName: "journeys" });
  assert((await listed(scene)).includes(mcpTaskId), "the journey is not listed");
  const call = await frontEnd.follow("journeys", mcpTaskId);
  await frontEnd.answer(await frontEnd.ask(call, 0));
  await frontEnd.kill();
  await frontEnd.start();
  await frontEnd.answer(await frontEnd.ask(call, 1));
  await assertPlanned(scene, call, 2);
  assert(!(await listed(scene)).includes(mcpTaskId), "the journey is listed beside its call");
}

/** The extension of 2026-07-28 has no list: of a job that is not known, nothing is heard. */
export async function unlisted(scene: Scene): Promise<void> {
  await leaveBehind(scene);
  await scene.frontEnd.request("server/restart", { serverName: "journeys" });
  assert.deepEqual(await listed(scene), []);
}
