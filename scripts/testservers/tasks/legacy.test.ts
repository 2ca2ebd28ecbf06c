import { afterEach, describe, expect, test } from "vitest";
import { LegacyClient, relatedTask } from "./testing/clients.ts";
import { httpWire, stdioWire, type Wire } from "./testing/wires.ts";

describe.each([
  ["stdio", stdioWire],
  ["http", httpWire],
])("2025-11-25 on %s", (transport, open) => {
  let wire: Wire | undefined;
  afterEach(async () => await wire?.kill());

  async function connect(capabilities?: Record<string, unknown>) {
    wire = await open();
    return await LegacyClient.connect(wire, capabilities);
  }

  test("a task asks on tasks/result, and reports the answer", async () => {
    const client = await connect();
    const params = { name: "plan_journey", arguments: { step_ms: 1 }, task: { ttl: 60_000 } };
    const { task } = await client.request("tools/call", {
      ...params,
      _meta: { progressToken: "tick" },
    });
    expect(task).toMatchObject({ status: "working", ttl: 60_000, pollInterval: 500 });
    const { params: progress } = await client.next("notifications/progress");
    expect(progress).toMatchObject({ progressToken: "tick", progress: expect.any(Number) });
    const { taskId } = task;
    await client.status(taskId, "input_required");

    const result = client.begin("tasks/result", { taskId });
    const day = await client.next("elicitation/create");
    expect(day["params"]).toMatchObject({
      mode: "form",
      message: "Which day do you want to travel?",
      _meta: { [relatedTask]: { taskId } },
    });
    if (transport === "http") expect(day["on"]).toBe(result);
    await client.answer(day, { action: "accept", content: { day: "friday" } });
    await client.status(taskId, "working");
    const seat = await client.next("elicitation/create");
    await client.answer(seat, { action: "decline" });

    const { result: told } = await client.response(result);
    expect(told).toMatchObject({
      structuredContent: {
        destination: "Lisbon",
        told: {
          day: { asked: 1, answered: 1, answer: { action: "accept", content: { day: "friday" } } },
          seat: { asked: 1, answered: 1, answer: { action: "decline" } },
        },
      },
      _meta: { [relatedTask]: { taskId } },
    });
    expect(await client.request("tasks/get", { taskId })).toMatchObject({ status: "completed" });
  });

  test("a question without an answer is asked again on another tasks/result", async () => {
    const client = await connect();
    const taskId = await client.startTask("plan_journey", { step_ms: 1 });
    const first = client.begin("tasks/result", { taskId });
    const lost = await client.next("elicitation/create");
    const second = client.begin("tasks/result", { taskId });
    const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled" };
    await client.wire.send({ ...cancelled, params: { requestId: first } });
    const again = await client.next("elicitation/create");
    await client.answer(again, { action: "accept", content: { day: "monday" } });
    const seat = await client.next("elicitation/create");
    await client.answer(lost, { action: "accept", content: { day: "sunday" } });
    await client.answer(seat, { action: "cancel" });
    const { result } = await client.response(second);
    expect(result.structuredContent.told).toMatchObject({
      day: { asked: 2, answered: 2, answer: { content: { day: "monday" } } },
      seat: { asked: 1, answered: 1 },
    });
  });

  test("a client that offers tasks gets its questions as tasks", async () => {
    const requests = { elicitation: { create: {} } };
    const client = await connect({ elicitation: {}, tasks: { cancel: {}, requests } });
    const taskId = await client.startTask("confirm_delete", { filename: "x" });
    const result = client.begin("tasks/result", { taskId });
    const ask = await client.next("elicitation/create");
    expect(ask["params"]).toMatchObject({ task: { ttl: expect.any(Number) } });
    const mine = { taskId: "mine", status: "working", pollInterval: 1, ttl: null };
    await client.answer(ask, { task: mine });
    await client.answer(await client.next("tasks/get"), mine);
    await client.answer(await client.next("tasks/get"), { ...mine, status: "completed" });
    const wanted = await client.next("tasks/result", (params) => params["taskId"] === "mine");
    await client.answer(wanted, { action: "accept", content: { confirm: true } });
    const { result: told } = await client.response(result);
    expect(told.content[0].text).toMatch(/^Told {"action":"accept","content":{"confirm":true}/);
  });

  test("a task asks the model too", async () => {
    const client = await connect({ elicitation: {}, sampling: {} });
    const taskId = await client.startTask("plan_journey", { step_ms: 1, ask_model: true });
    const result = client.begin("tasks/result", { taskId });
    await client.answer(await client.next("elicitation/create"), { action: "decline" });
    await client.answer(await client.next("elicitation/create"), { action: "decline" });
    const sampling = await client.next("sampling/createMessage");
    expect(sampling["params"]).toMatchObject({
      maxTokens: 100,
      _meta: { [relatedTask]: { taskId } },
    });
    const error = { code: -1, message: "User rejected sampling request" };
    await client.wire.send({ jsonrpc: "2.0", id: sampling["id"], error });
    const { result: told } = await client.response(result);
    expect(told.structuredContent.told.tip).toEqual({ asked: 1, answered: 1, answer: { error } });
  });

  test("cancelling ends the task for good, and withdraws its question", async () => {
    const client = await connect();
    const taskId = await client.startTask("confirm_delete", { filename: "x" });
    const waiting = client.begin("tasks/result", { taskId });
    const ask = await client.next("elicitation/create");
    const cancelled = await client.request("tasks/cancel", { taskId });
    expect(cancelled).toMatchObject({ taskId, status: "cancelled" });
    const { params } = await client.next("notifications/cancelled");
    expect(params.requestId).toBe(ask["id"]);
    expect(await client.response(waiting)).toHaveProperty("error");
    expect(await client.error("tasks/cancel", { taskId })).toMatchObject({ code: -32602 });
    expect(await client.error("tasks/get", { taskId: "../x" })).toMatchObject({ code: -32602 });
  });

  test("tools say whether they are tasks, and are called so", async () => {
    const client = await connect();
    const { tools } = await client.request("tools/list");
    const support = (name: string) =>
      tools.find((tool: { name: string }) => tool.name === name).execution.taskSupport;
    expect(["plan_journey", "count", "quick"].map(support)).toEqual([
      "required",
      "optional",
      "forbidden",
    ]);
    expect(await client.error("tools/call", { name: "plan_journey" })).toMatchObject({
      code: -32601,
    });
    expect(await client.error("tools/call", { name: "quick", task: {} })).toMatchObject({
      code: -32601,
    });
    const quick = await client.request("tools/call", { name: "quick" });
    expect(quick).toEqual({ content: [{ type: "text", text: "That was quick." }] });
    const plain = await client.request("tools/call", {
      name: "count",
      arguments: { to: 2, step_ms: 1 },
      _meta: { progressToken: 7 },
    });
    expect(plain).toEqual({ content: [{ type: "text", text: "Counted to 2." }] });
    const { params } = await client.next(
      "notifications/progress",
      ({ progress }) => progress === 2,
    );
    expect(params.progressToken).toBe(7);
  });

  test("a task fails with its call's error, or with its call's result", async () => {
    const client = await connect();
    const late = await client.startTask("fail_late", { step_ms: 1 });
    expect(await client.error("tasks/result", { taskId: late })).toEqual({
      code: 4001,
      message: "The train was cancelled.",
      data: { train: "IC 523", refund: true },
    });
    const wrong = await client.startTask("tool_error", { step_ms: 1 });
    expect(await client.request("tasks/result", { taskId: wrong })).toMatchObject({
      isError: true,
    });
    for (const taskId of [late, wrong]) {
      expect(await client.request("tasks/get", { taskId })).toMatchObject({ status: "failed" });
    }
  });

  test("an account wants its pages confirmed first", async () => {
    const client = await connect({ elicitation: { form: {}, url: {} } });
    const { code, data } = await client.error("tools/call", { name: "open_account" });
    expect(code).toBe(-32042);
    const [terms, address] = data.elicitations;
    expect(terms).toMatchObject({ mode: "url", elicitationId: expect.any(String) });
    expect((await fetch(terms.url)).status).toBe(200);
    const { params } = await client.next("notifications/elicitation/complete");
    expect(params.elicitationId).toBe(terms.elicitationId);
    const again = await client.error("tools/call", { name: "open_account" });
    expect(again["data"].elicitations).toEqual([address]);
    await fetch(address.url);
    expect(await client.request("tools/call", { name: "open_account" })).toMatchObject({
      content: [{ text: "The account is open: both pages were confirmed." }],
    });
    expect((await fetch(address.url)).status).toBe(404);
  });

  test("lists its tasks in pages", async () => {
    const client = await connect();
    const ids = new Set<string>();
    for (let i = 0; i < 12; i++) ids.add(await client.startTask("count", { to: 0 }));
    const first = await client.request("tasks/list");
    const second = await client.request("tasks/list", { cursor: first["nextCursor"] });
    expect([first["tasks"].length, second["tasks"].length]).toEqual([10, 2]);
    expect(second).not.toHaveProperty("nextCursor");
    for (const { taskId } of [...first["tasks"], ...second["tasks"]]) ids.delete(taskId);
    expect(ids).toEqual(new Set());
    expect(await client.error("tasks/list", { cursor: "?" })).toMatchObject({ code: -32602 });
  });
});
