import { afterEach, describe, expect, test } from "vitest";
import { ModernClient } from "./testing/clients.ts";
import { headersOf, httpWire, stdioWire, type Wire } from "./testing/wires.ts";

describe.each([
  ["stdio", stdioWire],
  ["http", httpWire],
])("2026-07-28 on %s", (_transport, open) => {
  let wire: Wire | undefined;
  afterEach(async () => await wire?.kill());

  async function connect() {
    wire = await open(["--confirm-wait", "50"]);
    return new ModernClient(wire);
  }

  test("lists its capabilities", async () => {
    const client = await connect();
    expect(await client.request("server/discover")).toMatchObject({
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: {}, extensions: { "io.modelcontextprotocol/tasks": {} } },
    });
    const _meta = { "io.modelcontextprotocol/protocolVersion": "1900-01-01" };
    expect(await client.error("server/discover", { _meta })).toMatchObject({
      code: -32022,
      data: { supported: ["2026-07-28"], requested: "1900-01-01" },
    });
  });

  test("a task asks in its state, and reports the answer", async () => {
    const client = await connect();
    const name = "plan_journey";
    const task = await client.request("tools/call", { name, arguments: { step_ms: 1 } });
    expect(task).toMatchObject({ resultType: "task", status: "working", ttlMs: 3_600_000 });
    const { taskId } = task;
    const { inputRequests } = await client.status(taskId, "input_required");
    expect(inputRequests.day).toMatchObject({ method: "elicitation/create" });
    const poll = await client.request("tasks/get", { taskId });
    expect(poll["inputRequests"]).toEqual(inputRequests);

    const day = { action: "accept", content: { day: "friday" } };
    const answer = { taskId, inputResponses: { day, unknown: { action: "accept" } } };
    expect(await client.request("tasks/update", answer)).toEqual({ resultType: "complete" });
    const late = { taskId, inputResponses: { day: { action: "decline" } } };
    await client.request("tasks/update", late);
    const { inputRequests: then } = await client.status(taskId, "input_required");
    expect(Object.keys(then)).toEqual(["seat"]);
    await client.request("tasks/update", {
      taskId,
      inputResponses: { seat: { action: "cancel" } },
    });
    const { result } = await client.status(taskId, "completed");
    expect(result.structuredContent.told).toEqual({
      day: { asked: 1, answered: 2, answer: day },
      seat: { asked: 1, answered: 1, answer: { action: "cancel" } },
    });
  });

  test("tasks are for those who declare them", async () => {
    const client = await connect();
    const taskId = await client.startTask("misbehave", { kind: "never_ends" });
    client.capabilities = { elicitation: {} };
    const required = { extensions: { "io.modelcontextprotocol/tasks": {} } };
    const missing = { code: -32021, data: { requiredCapabilities: required } };
    for (const [method, params] of [
      ["tools/call", { name: "plan_journey" }],
      ["tasks/get", { taskId }],
      ["tasks/update", { taskId, inputResponses: {} }],
      ["tasks/cancel", { taskId }],
      ["subscriptions/listen", { notifications: { taskIds: [taskId] } }],
    ] as const) {
      expect(await client.error(method, params), method).toMatchObject(missing);
    }
    const count = { name: "count", arguments: { to: 1, step_ms: 1 } };
    expect(await client.request("tools/call", count)).toMatchObject({ resultType: "complete" });
    client.capabilities = required;
    expect(await client.error("tools/call", { name: "plan_journey" })).toMatchObject({
      data: { requiredCapabilities: { elicitation: { form: {} } } },
    });
  });

  test("a subscription names its tasks, and ends", async () => {
    const client = await connect();
    const taskId = await client.startTask("confirm_delete", { filename: "x" });
    const id = client.begin("subscriptions/listen", {
      notifications: { taskIds: [taskId, "unknown"], toolsListChanged: true },
    });
    const _meta = { "io.modelcontextprotocol/subscriptionId": id };
    const { params } = await client.next("notifications/subscriptions/acknowledged");
    expect(params).toEqual({ _meta, notifications: { taskIds: [taskId] } });
    await client.next("notifications/tasks", ({ status }) => status === "input_required");
    await client.request("tasks/cancel", { taskId });
    const { params: state } = await client.next(
      "notifications/tasks",
      ({ status }) => status === "cancelled",
    );
    expect(state).toMatchObject({ _meta, taskId });
    expect(await client.request("tasks/cancel", { taskId })).toEqual({ resultType: "complete" });
    expect(await client.error("tasks/cancel", { taskId: "unknown" })).toMatchObject({
      code: -32602,
    });
  });

  test("only an error of the protocol is a failure", async () => {
    const client = await connect();
    const late = await client.startTask("fail_late", { step_ms: 1 });
    expect(await client.status(late, "failed")).toMatchObject({
      error: { code: 4001, data: { train: "IC 523", refund: true } },
    });
    const wrong = await client.startTask("tool_error", { step_ms: 1 });
    expect(await client.status(wrong, "completed")).toMatchObject({ result: { isError: true } });
  });

  test("an account wants its pages confirmed first", async () => {
    const client = await connect();
    const call = { name: "open_account" };
    const asked = await client.request("tools/call", call);
    expect(asked["resultType"]).toBe("input_required");
    const requests: [string, { params: { url: string } }][] = Object.entries(
      asked["inputRequests"],
    );
    expect(requests.map(([, { params }]) => params)).toMatchObject([
      { mode: "url" },
      { mode: "url" },
    ]);
    expect(requests[0]?.[1].params).not.toHaveProperty("elicitationId");
    const inputResponses = Object.fromEntries(requests.map(([key]) => [key, { action: "accept" }]));
    const { requestState } = asked;
    const retry = { ...call, inputResponses, requestState };
    const again = await client.request("tools/call", retry);
    expect(again["inputRequests"]).toEqual(asked["inputRequests"]);
    for (const [, { params }] of requests) expect((await fetch(params.url)).ok).toBe(true);
    expect(await client.request("tools/call", retry)).toMatchObject({
      content: [{ text: "The account is open: both pages were confirmed." }],
    });
    const forged = { ...retry, requestState: `${requestState}x` };
    expect(await client.error("tools/call", forged)).toMatchObject({ code: -32602 });
  });
});

describe("2026-07-28 over HTTP", () => {
  let wire: Awaited<ReturnType<typeof httpWire>> | undefined;
  afterEach(async () => await wire?.kill());

  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {
      extensions: { "io.modelcontextprotocol/tasks": {} },
    },
  };
  const get = { id: 1, method: "tasks/get", params: { taskId: "unknown", _meta } };

  test.each([
    ["another task in Mcp-Name", get, { "Mcp-Name": "other" }, 400, -32020],
    ["another method", get, { "Mcp-Method": "tools/call" }, 400, -32020],
    ["another version", get, { "MCP-Protocol-Version": "2025-11-25" }, 400, -32020],
    ["an encoded name", get, { "Mcp-Name": "=?base64?dW5rbm93bg==?=" }, 200, -32602],
    ["no such method", { ...get, method: "tasks/list" }, {}, 404, -32601],
    [
      "no _meta",
      { ...get, params: {} },
      { "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tasks/get" },
      400,
      -32602,
    ],
    ["a page of the web", get, { Origin: "https://example.com" }, 403, undefined],
  ] as const)("%s", async (_what, body, headers, status, code) => {
    wire = await httpWire();
    const message = { jsonrpc: "2.0", ...body };
    const response = await fetch(wire.url, {
      method: "POST",
      headers: { ...headersOf(message), ...headers },
      body: JSON.stringify(message),
    });
    expect(response.status).toBe(status);
    const text = await response.text();
    if (code !== undefined) expect(JSON.parse(text).error.code).toBe(code);
  });
});
