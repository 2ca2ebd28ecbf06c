import { expect, test } from "vitest";
import { serversWords, withServer, withTool } from "./taskServers.ts";

const all = ["a", "b"];
const tools = ["x", "y"];

test("a server goes, and all of them together are no choice", () => {
  const without = withServer({ modelId: "m" }, all, "a", undefined);
  expect(without).toEqual({ modelId: "m", servers: [{ serverName: "b" }] });
  expect(withServer(without, all, "a", { serverName: "a" })).toEqual({ modelId: "m" });
  expect(withServer(without, all, "b", undefined)).toEqual({ modelId: "m", servers: [] });
});

test("a tool goes, and all of them together are no choice", () => {
  const without = withTool({}, all, "a", tools, "x", false);
  expect(without).toEqual({
    servers: [{ serverName: "a", toolNames: ["y"] }, { serverName: "b" }],
  });
  expect(withTool(without, all, "a", tools, "x", true)).toEqual({});
});

test("one tool of a server that was not enabled enables that tool alone", () => {
  expect(withTool({ servers: [] }, all, "b", tools, "y", true)).toEqual({
    servers: [{ serverName: "b", toolNames: ["y"] }],
  });
});

test("the choice in words", () => {
  expect(serversWords({}, all)).toBe("All servers");
  expect(serversWords({ servers: [] }, all)).toBe("No server");
  expect(serversWords({ servers: [{ serverName: "b" }] }, all)).toBe("b");
  expect(serversWords({ servers: [{ serverName: "gone" }] }, all)).toBe("No server");
});
