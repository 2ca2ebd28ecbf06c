import type { Field } from "@assent/protocol";
import { expect, test } from "vitest";
import { looksSecret } from "./secrets.ts";

test.each([
  ["password", true],
  ["apiKey", true],
  ["API-KEY", true],
  ["github_token", true],
  ["card.number", true],
  ["cardNumber", true],
  ["pin", true],
  ["maxTokens", false],
  ["tokenizer", false],
  ["pinned", false],
  ["keyboard", false],
  ["number", false],
])("a text named %j", (name, want) => {
  expect(looksSecret({ type: "string", name })).toBe(want);
});

test("the title and the description tell too", () => {
  expect(looksSecret({ type: "string", name: "f", title: "Your Password" })).toBe(true);
  expect(looksSecret({ type: "string", name: "f", description: "The secret you got." })).toBe(true);
});

test("a number may be a secret; a tick or a choice is none", () => {
  const kinds: readonly (readonly [Field["type"], boolean])[] = [
    ["number", true],
    ["json", true],
    ["boolean", false],
    ["choice", false],
    ["choices", false],
  ];
  for (const [type, want] of kinds) {
    expect(looksSecret({ type, name: "password", schema: {} } as Field), type).toBe(want);
  }
});
