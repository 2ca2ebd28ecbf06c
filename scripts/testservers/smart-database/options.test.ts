import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { start } from "../kit/testing/wires.ts";
import { parseOptions } from "./options.mjs";
import { program } from "./testing/talk.ts";

test.each([
  [[], "--database FILE is missing: the file may be a new one"],
  [
    ["--database", "x", "--era", "2024-11-05"],
    "--era is one of 2025-06-18, 2025-11-25, 2026-07-28, both, not 2024-11-05",
  ],
  [["--database", "x", "--large", "many"], "--large is a whole number from 0 to 5000000, not many"],
  [["--database", "x", "--pace", "-1"], "--pace"],
])("%j are refused", (args, why) => {
  expect(() => parseOptions(args)).toThrow(why);
});

test("a table is small unless it is said to be large", () => {
  const options = { database: "x", era: "both", legacyVersion: "2025-11-25" };
  expect(parseOptions(["--database", "x"])).toMatchObject({
    ...options,
    large: false,
    users: 200,
    paceMs: 0,
  });
  expect(parseOptions(["--database", "x", "--large", "5000"])).toMatchObject({
    ...options,
    large: true,
    users: 5000,
    paceMs: 100,
  });
});

test("the program reports the problem, and ends", async () => {
  const server = start(program, [], "pipe");
  const [said, [code]] = await Promise.all([text(server.stderr), once(server, "exit")]);
  expect(said).toBe("smart-database: --database FILE is missing: the file may be a new one\n");
  expect(code).toBe(1);
});
