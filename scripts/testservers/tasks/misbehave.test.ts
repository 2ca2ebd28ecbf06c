import { afterEach, expect, test } from "vitest";
import { LegacyClient, ModernClient } from "./testing/clients.ts";
import { stdioWire, type Wire } from "./testing/wires.ts";

let wire: Wire | undefined;
afterEach(async () => await wire?.kill());

const year = 31_536_000_000;

test.each([
  ["ttl_zero", { ttlMs: 0 }, { ttl: 0 }],
  ["ttl_null", { ttlMs: null }, { ttl: null }],
  ["poll_1ms", { pollIntervalMs: 1 }, { pollInterval: 1 }],
  ["poll_year", { pollIntervalMs: year }, { pollInterval: year }],
  [
    "wrong_clock",
    { createdAt: "2999-12-31T23:59:59Z", lastUpdatedAt: "1970-01-01T00:00:00Z" },
    { createdAt: "2999-12-31T23:59:59Z", lastUpdatedAt: "1970-01-01T00:00:00Z" },
  ],
])("%s", async (kind, modernLie, legacyLie) => {
  wire = await stdioWire();
  const params = { name: "misbehave", arguments: { kind, step_ms: 1 } };
  const modern = new ModernClient(wire);
  const task = await modern.request("tools/call", params);
  expect(task).toMatchObject({ resultType: "task", ...modernLie });
  expect(await modern.status(task["taskId"], "completed")).toMatchObject(modernLie);
  const legacy = await LegacyClient.connect(wire);
  const created = await legacy.request("tools/call", { ...params, task: {} });
  expect(created["task"]).toMatchObject(legacyLie);
});

test("vanishes", async () => {
  wire = await stdioWire();
  const client = new ModernClient(wire);
  const taskId = await client.startTask("misbehave", { kind: "vanishes", step_ms: 60_000 });
  expect(await client.request("tasks/get", { taskId })).toMatchObject({ status: "working" });
  expect(await client.error("tasks/get", { taskId })).toMatchObject({ code: -32602 });
});

test("no_result_type", async () => {
  wire = await stdioWire();
  const params = { name: "misbehave", arguments: { kind: "no_result_type" } };
  const task = await new ModernClient(wire).request("tools/call", params);
  expect(task).toHaveProperty("taskId");
  expect(task).not.toHaveProperty("resultType");
  const legacy = await LegacyClient.connect(wire);
  expect(await legacy.request("tools/call", { ...params, task: {} })).toHaveProperty("taskId");
});

test("huge_result", async () => {
  wire = await stdioWire();
  const client = new ModernClient(wire);
  const bytes = 5_000_000;
  const taskId = await client.startTask("misbehave", { kind: "huge_result", step_ms: 1, bytes });
  const { result } = await client.status(taskId, "completed");
  expect(result.content[0].text).toHaveLength(bytes);
});

test("same_key_twice", async () => {
  wire = await stdioWire();
  const client = new ModernClient(wire);
  const taskId = await client.startTask("misbehave", { kind: "same_key_twice", step_ms: 1 });
  for (const nth of ["first", "second"]) {
    const { inputRequests } = await client.status(taskId, "input_required");
    expect(inputRequests.same.params.message).toBe(`The ${nth} question`);
    const same = { action: "accept", content: { [nth]: nth } };
    await client.request("tasks/update", { taskId, inputResponses: { same } });
  }
  const { result } = await client.status(taskId, "completed");
  expect(result.content[0].text).toMatch(/"first":"first".*"second":"second"/);

  const legacy = await LegacyClient.connect(wire);
  const again = await legacy.startTask("misbehave", { kind: "same_key_twice", step_ms: 1 });
  legacy.begin("tasks/result", { taskId: again });
  const first = await legacy.next("elicitation/create");
  await legacy.answer(first, { action: "accept", content: {} });
  expect((await legacy.next("elicitation/create"))["id"]).toBe(first["id"]);
});

test("never_ends until it is cancelled", async () => {
  wire = await stdioWire();
  const client = new ModernClient(wire);
  const taskId = await client.startTask("misbehave", { kind: "never_ends", step_ms: 0 });
  await client.request("tasks/cancel", { taskId });
  expect(await client.request("tasks/get", { taskId })).toMatchObject({ status: "cancelled" });
});
