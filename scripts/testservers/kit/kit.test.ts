// What the raw servers share, through the server that asks for completions, from a client without an SDK.
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { LegacyClient, ModernClient } from "./testing/clients.ts";
import { callTool, connect, type Transport } from "./testing/talk.ts";
import { type Message, start, stdioWire, type Wire } from "./testing/wires.ts";

const program = fileURLToPath(new URL("../sampling.mjs", import.meta.url));

const modernEra = "2026-07-28";

/** Every revision on every transport that it has. */
const everywhere: readonly (readonly [string, Transport])[] = [
  ...["2024-11-05", "2025-06-18", "2025-11-25", modernEra].map((era) => [era, "stdio"] as const),
  ...["2025-06-18", "2025-11-25", modernEra].map((era) => [era, "http"] as const),
];

let wire: Wire | undefined;
afterEach(async () => await wire?.kill());

describe.each(everywhere)("%s on %s", (era, transport) => {
  async function open(capabilities: Message = { sampling: {} }) {
    const connected = await connect(program, era, transport, capabilities);
    ({ wire } = connected);
    return connected.client;
  }

  test("a tool gets the answer to its question unchanged", async () => {
    const client = await open();
    const content = { type: "text", text: "Hi!" };
    const answer = { role: "assistant", content, model: "m", _meta: { odd: [null, 0] } };
    const asked: unknown[] = [];
    const args = { prompt: "Say hi", system_prompt: "Be brief", max_tokens: 7, temperature: 0 };
    const called = { name: "ask_model", arguments: args };
    const result = await callTool(client, called, (method, params) => {
      asked.push([method, params]);
      return answer;
    });
    const messages = [{ role: "user", content: { type: "text", text: "Say hi" } }];
    const params = { messages, systemPrompt: "Be brief", maxTokens: 7, temperature: 0 };
    expect(asked).toEqual([["sampling/createMessage", params]]);
    expect(JSON.parse(result["content"][0].text)).toEqual({ result: answer });
    expect(result["isError"]).toBe(false);
  });

  test("a tool knows what the client said of itself", async () => {
    const capabilities = { sampling: { tools: {}, context: {} }, experimental: { x: {} } };
    const client = await open(capabilities);
    const { content } = await client.request("tools/call", { name: "capabilities" });
    const said = { protocolVersion: era, capabilities };
    expect(JSON.parse(content[0].text)).toMatchObject(said);
  });

  test("a client that cannot be asked is not asked", async () => {
    const client = await open({});
    const params = { name: "ask_model", arguments: { prompt: "?" } };
    expect(await client.error("tools/call", params)).toMatchObject(
      era === modernEra
        ? { code: -32021, data: { requiredCapabilities: { sampling: {} } } }
        : { code: -32602 },
    );
  });

  test("what is wrong with a call is said", async () => {
    const client = await open();
    const { isError, content } = await client.request("tools/call", { name: "ask_model" });
    expect([isError, content[0].text]).toEqual([true, "prompt is missing"]);
    const nothing = await client.error("tools/call", { name: "nothing" });
    expect(nothing).toMatchObject({ code: -32602 });
    expect(await client.error("resources/list")).toMatchObject({ code: -32601 });
  });
});

test("a server answers with its own revision, not the client's", async () => {
  wire = await stdioWire(program, ["--era", "2025-06-18"]);
  // A client that begins with server/discover is told to begin otherwise.
  const { code } = await new ModernClient(wire).error("server/discover");
  expect(code).toBe(-32600);
  await expect(LegacyClient.open(wire, "2025-11-25", {})).rejects.toThrow("speaks 2025-06-18");
});

test("a question is withdrawn when the call is cancelled", async () => {
  const connected = await connect(program, "2025-11-25", "stdio", { sampling: {} });
  const { client } = connected;
  ({ wire } = connected);
  const id = client.begin("tools/call", { name: "ask_model", arguments: { prompt: "?" } });
  const request = await wire.take((it) => it["method"] === "sampling/createMessage");
  await wire.send({
    ...{ jsonrpc: "2.0", method: "notifications/cancelled" },
    params: { requestId: id },
  });
  const { params } = await wire.take((it) => it["method"] === "notifications/cancelled");
  expect(params.requestId).toBe(request["id"]);
  // A cancelled call has no answer: the next one is the answer to the ping.
  const ping = client.begin("ping");
  expect((await wire.take(() => true))["id"]).toBe(ping);
});

test("a server ends when its input does, in the middle of a question", async () => {
  const server = start(program, [], "pipe");
  const exited = once(server, "exit");
  const message = (it: object) =>
    server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...it })}\n`);
  message({ id: 1, method: "initialize", params: { capabilities: { sampling: {} } } });
  const params = { name: "ask_model", arguments: { prompt: "?" } };
  message({ id: 2, method: "tools/call", params });
  server.stdin.end();
  const [output, errors] = await Promise.all([text(server.stdout), text(server.stderr)]);
  expect(output).toContain("sampling/createMessage");
  expect(errors).toBe("");
  expect(await exited).toEqual([0, null]);
});
