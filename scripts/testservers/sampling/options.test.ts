import { once } from "node:events";
import { text } from "node:stream/consumers";
import { afterEach, expect, test } from "vitest";
import { LegacyClient, ModernClient } from "../kit/testing/clients.ts";
import { start, stdioWire, type Wire } from "../kit/testing/wires.ts";
import { open, program, type Talk } from "./testing/converse.ts";

let wire: Wire | undefined;
afterEach(async () => await wire?.kill());

test.each([
  [["--era", "1900-01-01"], "--era is one of 2024-11-05, 2025-06-18, 2025-11-25, 2026-07-28, not"],
  [["--era", "2024-11-05", "--http", "0"], "2024-11-05 has no Streamable HTTP: leave out --http"],
  [["--http", "x"], "--http is a whole number from 0 to 65535, not x"],
  [["--colour"], "Unknown option '--colour'"],
])("refuses %j", async (args, message) => {
  const server = start(program, args, "pipe");
  const [errors, [code]] = await Promise.all([text(server.stderr), once(server, "exit")]);
  expect(errors).toContain(`test-sampling-server: ${message}`);
  expect(code).toBe(1);
});

test("answers with its own revision, not the client's", async () => {
  wire = await stdioWire(program, ["--era", "2025-06-18"]);
  // A client that begins with server/discover is told to begin otherwise.
  const { code } = await new ModernClient(wire).error("server/discover");
  expect(code).toBe(-32600);
  await expect(LegacyClient.open(wire, "2025-11-25", {})).rejects.toThrow("speaks 2025-06-18");
});

test("has no sessions in 2026-07-28", async () => {
  wire = await stdioWire(program, ["--era", "2026-07-28"]);
  await expect(LegacyClient.open(wire, "2025-11-25", {})).rejects.toThrow(
    `"supported":["2026-07-28"]`,
  );
  expect(await new ModernClient(wire).request("server/discover")).toMatchObject({
    supportedVersions: ["2026-07-28"],
    capabilities: { tools: {} },
  });
});

test("withdraws its question when the call is cancelled", async () => {
  const talk: Talk = await open("2025-11-25");
  ({ wire } = talk);
  const id = talk.client.begin("tools/call", { name: "ask_model", arguments: { prompt: "?" } });
  const request = await talk.client.next("sampling/createMessage");
  talk.wire.cancel(id);
  const { params } = await talk.client.next("notifications/cancelled");
  expect(params.requestId).toBe(request["id"]);
  // A cancelled call has no answer: the next one is the answer to the ping.
  await talk.client.request("ping");
  expect(talk.wire.inbox.rest).toEqual([]);
});

test("ends when its input does, in the middle of a question", async () => {
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
