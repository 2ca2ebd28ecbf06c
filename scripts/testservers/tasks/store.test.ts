import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { LegacyClient, ModernClient } from "./testing/clients.ts";
import { stdioWire, type Wire } from "./testing/wires.ts";

let folder: string;
const wires: Wire[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "assent-tasks-"));
});
afterEach(async () => {
  for (const wire of wires.splice(0)) await wire.kill();
  await rm(folder, { recursive: true });
});

async function open(...args: string[]): Promise<Wire> {
  const wire = await stdioWire(["--store", folder, ...args]);
  wires.push(wire);
  return wire;
}

test("a task survives its server, and keeps its answers (2026-07-28)", async () => {
  const before = new ModernClient(await open());
  const taskId = await before.startTask("plan_journey", { step_ms: 1, destination: "Porto" });
  await before.status(taskId, "input_required");
  const day = { action: "accept", content: { day: "friday" } };
  await before.request("tasks/update", { taskId, inputResponses: { day } });
  await before.wire.kill();

  const after = new ModernClient(await open());
  const { inputRequests } = await after.status(taskId, "input_required");
  expect(Object.keys(inputRequests)).toEqual(["seat"]);
  const seat = { action: "accept", content: { seat: "aisle" } };
  await after.request("tasks/update", { taskId, inputResponses: { seat } });
  const { result } = await after.status(taskId, "completed");
  expect(result.structuredContent).toMatchObject({
    destination: "Porto",
    steps: 9,
    told: { day: { asked: 1, answered: 1, answer: day }, seat: { answer: seat } },
  });
});

test("a task survives its server, and asks its open question again (2025-11-25)", async () => {
  const before = await LegacyClient.connect(await open());
  const taskId = await before.startTask("plan_journey", { step_ms: 1 });
  before.begin("tasks/result", { taskId });
  await before.next("elicitation/create");
  await before.wire.kill();

  const after = await LegacyClient.connect(await open());
  expect(await after.request("tasks/get", { taskId })).toMatchObject({ status: "input_required" });
  const result = after.begin("tasks/result", { taskId });
  for (const content of [{ day: "monday" }, { seat: "window" }]) {
    await after.answer(await after.next("elicitation/create"), { action: "accept", content });
  }
  const { result: told } = await after.response(result);
  expect(told.structuredContent.told).toMatchObject({
    day: { asked: 2, answered: 1 },
    seat: { asked: 1, answered: 1 },
  });
});

test("the process that is asked last has the task", async () => {
  const first = new ModernClient(await open());
  const second = new ModernClient(await open());
  const taskId = await first.startTask("confirm_delete", { filename: "x" });
  await first.status(taskId, "input_required");
  await second.status(taskId, "input_required");
  const inputResponses = { sure: { action: "accept", content: { confirm: true } } };
  await second.request("tasks/update", { taskId, inputResponses });
  await second.status(taskId, "completed");
  // The first process has released the task, so it reads the file.
  expect(await first.status(taskId, "completed")).toHaveProperty("result");
});

test("an expired task is gone, also for those who wait for it", async () => {
  const client = await LegacyClient.connect(await open("--ttl", "50"));
  const taskId = await client.startTask("misbehave", { kind: "never_ends" });
  expect(await client.error("tasks/result", { taskId })).toMatchObject({ code: -32602 });
  expect(await client.error("tasks/get", { taskId })).toMatchObject({ code: -32602 });
  expect(await readdir(folder)).toEqual([]);
});
