import type { Grant, Model } from "@assent/protocol";
import { expect, test } from "vitest";
import { demoModel, grant, otherModel } from "../../testing/samples.ts";
import { type GrantScope, grantKey, readGrantForm, termsOf } from "./grantForm.ts";
import { grantState, termsInWords } from "./grantWords.ts";

const now = new Date(2026, 10, 21, 14, 30).getTime();
const priced: Model = { ...otherModel, inputCost: 1, outputCost: 2 };
const scope: GrantScope = {
  serverName: "weather",
  toolName: "forecast",
  model: priced,
  models: [priced, demoModel],
};

const make = (draft: Record<string, string | boolean>, of = scope) =>
  termsOf(readGrantForm(draft), of, now);

test("the defaults are ten requests of this tool and model, with each answer reviewed", () => {
  const { terms, problems } = make({});
  expect(problems).toEqual({});
  expect(terms).toEqual({
    serverName: "weather",
    toolName: "forecast",
    models: [priced.id],
    maxRequests: 10,
    review: true,
  });
  expect(termsInWords(terms, scope.models)).toBe(
    "Up to 10 requests from weather during forecast, to gpt at localhost. You see each answer.",
  );
});

test("everything else", () => {
  const { terms, problems } = make({
    [grantKey.requests]: "",
    [grantKey.tokens]: "20000",
    [grantKey.cost]: "0.5",
    [grantKey.until]: "today",
    [grantKey.anyTool]: true,
    [grantKey.unseen]: true,
  });
  expect(problems).toEqual({});
  expect(terms).toEqual({
    serverName: "weather",
    models: [priced.id],
    maxTokens: 20000,
    maxCost: 0.5,
    expiresAt: new Date(2026, 10, 21, 23, 59, 59, 999).getTime(),
  });
  expect(termsInWords(terms, scope.models)).toMatch(
    /^Any number of requests from weather, to gpt at localhost, up to 20,000 tokens and \$0\.50 in all, until .*\. The server gets each answer at once\.$/,
  );
});

test("a session has no other bounds, and any model is all of them by their ids", () => {
  const { terms } = make({ [grantKey.span]: "session", [grantKey.anyModel]: true });
  expect(terms).toEqual({
    serverName: "weather",
    toolName: "forecast",
    models: [priced.id, demoModel.id],
    session: true,
    review: true,
  });
  expect(termsInWords(terms, scope.models)).toBe(
    "Any number of requests from weather during forecast, to gpt at localhost or Demo (not a language model), until this session ends. You see each answer.",
  );
});

test.each([
  [{ [grantKey.requests]: "0" }, "maxRequests"],
  [{ [grantKey.requests]: "1.5" }, "maxRequests"],
  [{ [grantKey.tokens]: "many" }, "maxTokens"],
  [{ [grantKey.cost]: "-1" }, "maxCost"],
  [{ [grantKey.requests]: "" }, ""],
])("%j is no bound", (draft, field) => {
  expect(Object.keys(make(draft as Record<string, string>).problems)).toEqual([field]);
});

test("many models are counted, and a star is any", () => {
  const words = (models: readonly string[]) => termsInWords({ ...make({}).terms, models });
  expect(words(["a", "b", "c"])).toContain(", to a, b or c.");
  expect(words(["a", "b", "c", "d"])).toContain(", to any of 4 models.");
  expect(words(["*"])).toContain(", to any model.");
});

test("a bound in money is kept from models without a price", () => {
  const { terms } = make({ [grantKey.cost]: "1", [grantKey.anyModel]: true });
  expect(terms.maxCost).toBeUndefined();
  expect(make({}, { ...scope, model: undefined }).problems.models).toBeDefined();
});

test.each<readonly [string, Partial<Grant>]>([
  ["active", {}],
  ["session", { maxRequests: 0, session: true }],
  ["usedUp", { spent: { requests: 10, tokens: 0, cost: 0 } }],
  ["usedUp", { maxTokens: 1200 }],
  ["expired", { expiresAt: now }],
  ["active", { expiresAt: now + 1 }],
  ["revoked", { endedAt: now - 1 }],
  ["over", { session: true, endedAt: now - 1 }],
])("a grant is %s: %j", (want, part) => {
  expect(grantState(grant(part), now)).toBe(want);
});
