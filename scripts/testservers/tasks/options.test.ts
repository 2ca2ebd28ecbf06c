import { once } from "node:events";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { afterEach, expect, test } from "vitest";
import { LegacyClient, ModernClient } from "./testing/clients.ts";
import { headersOf, httpWire, start, stdioWire, type Wire } from "./testing/wires.ts";

let wire: Wire | undefined;
afterEach(async () => await wire?.kill());

test.each([
  ["stdio", stdioWire],
  ["http", httpWire],
])("--era serves one revision alone, on %s", async (transport, open) => {
  wire = await open(["--era", "modern"]);
  await expect(LegacyClient.connect(wire)).rejects.toThrow(`"supported":["2026-07-28"]`);
  await new ModernClient(wire).request("server/discover");
  await wire.kill();

  wire = await open(["--era", "legacy"]);
  if (transport === "stdio") {
    const { code } = await new ModernClient(wire).error("server/discover");
    expect(code).toBe(-32600);
  }
  const client = await LegacyClient.connect(wire);
  expect(await client.request("ping")).toEqual({});
});

test.each([
  [["--era", "future"], "--era is legacy, modern or both, not future"],
  [["--http", "x"], "--http is a whole number from 0 to 65535, not x"],
  [["--colour"], "Unknown option '--colour'"],
])("refuses %j", async (args, message) => {
  const server = start(args, "pipe");
  const [errors, [code]] = await Promise.all([text(server.stderr), once(server, "exit")]);
  expect(errors).toContain(`test-tasks-server: ${message}`);
  expect(code).toBe(1);
});

test("ends when its input does, in the middle of a task", async () => {
  const server = start([], "pipe");
  const exited = once(server, "exit");
  const params = {
    name: "misbehave",
    arguments: { kind: "never_ends" },
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {
        extensions: { "io.modelcontextprotocol/tasks": {} },
      },
    },
  };
  server.stdin.end(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params })}\n`);
  const [output, errors] = await Promise.all([text(server.stdout), text(server.stderr)]);
  expect(JSON.parse(output).result.resultType).toBe("task");
  expect(errors).toBe("");
  expect(await exited).toEqual([0, null]);
});

test("tells its subscriptions that it ends", async () => {
  const server = start(["--http", "0"]);
  const [url] = (await once(createInterface(server.stdout), "line")) as [string];
  const exited = once(server, "exit");
  const message = {
    jsonrpc: "2.0",
    id: 1,
    method: "subscriptions/listen",
    params: {
      notifications: {},
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
      },
    },
  };
  const body = JSON.stringify(message);
  const response = await fetch(url, { method: "POST", headers: headersOf(message), body });
  server.kill("SIGTERM");
  expect(await response.text()).toContain('"result":{"resultType":"complete"');
  expect(await exited).toEqual([0, null]);
});
