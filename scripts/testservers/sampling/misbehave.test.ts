import { afterEach, expect, test } from "vitest";
import type { Message } from "../kit/testing/inbox.ts";
import { says } from "../kit/testing/talk.ts";
import { eras, modernEra, open, type Talk } from "./testing/converse.ts";

let talk: Talk | undefined;
afterEach(async () => await talk?.wire.kill());

const invalid = { code: -32602, message: "no" };
const types = ({ content }: Message) => [content].flat().map(({ type }: Message) => type);

test.each<[string, (params: Message) => void]>([
  ["empty-messages", ({ messages }) => expect(messages).toEqual([])],
  ["unknown-role", ({ messages }) => expect(messages[0].role).toBe("system")],
  ["unknown-content", ({ messages }) => expect(types(messages[0])).toEqual(["hologram"])],
  ["zero-max-tokens", ({ maxTokens }) => expect(maxTokens).toBe(0)],
  ["negative-max-tokens", ({ maxTokens }) => expect(maxTokens).toBe(-1)],
  ["absent-max-tokens", (params) => expect(params).not.toHaveProperty("maxTokens")],
  ["bad-base64", ({ messages }) => expect(messages[0].content.data).toMatch(/[^A-Za-z0-9+/=]/)],
  ["huge-image", ({ messages }) => expect(messages[0].content.data).toHaveLength(50_000_000)],
  ["10000-messages", ({ messages }) => expect(messages).toHaveLength(10_000)],
  [
    "orphan-tool-result",
    ({ messages }) => expect(messages.map(types)).toEqual([["text"], ["tool_result"]]),
  ],
  [
    "mixed-tool-result",
    ({ messages }) => expect(types(messages[2])).toEqual(["tool_result", "text"]),
  ],
  [
    "unanswered-tool-use",
    ({ messages }) => expect(messages.map(types)).toEqual([["text"], ["tool_use"], ["text"]]),
  ],
  ["tools-undeclared", ({ tools }) => expect(tools).toHaveLength(2)],
  [
    "secret",
    ({ messages }) => {
      expect(messages[0].content.text).toMatch(/\bAKIA[A-Z2-7]{16}\n/);
      expect(messages[0].content.text).toMatch(/= [A-Za-z0-9+/]{40}$/);
    },
  ],
])("%s", async (how, looks) => {
  talk = await open("2025-11-25");
  const refuse = () => ({ error: invalid });
  const { json, asked } = await talk.call("misbehave", { how }, refuse);
  expect(asked).toHaveLength(1);
  looks(asked[0] ?? {});
  if (how !== "tools-undeclared") expect(asked[0]).not.toHaveProperty("tools");
  expect(json).toEqual({ how, outcomes: [{ error: invalid }] });
});

test.each(["orphan-tool-result", "mixed-tool-result", "unanswered-tool-use"])(
  "%s has the tools where they are taken",
  async (how) => {
    talk = await open("2025-11-25", "stdio", { sampling: { tools: {} } });
    const { json, asked } = await talk.call("misbehave", { how }, () => says("I do not mind."));
    expect(asked[0]?.["tools"]).toHaveLength(2);
    expect(json["outcomes"]).toEqual([{ result: says("I do not mind.") }]);
  },
);

test.each(eras)("it asks who serves no sampling, in %s", async (era) => {
  talk = await open(era, "stdio", {});
  const { json } = await talk.call("misbehave", { how: "secret" }, () => says("Oh."));
  expect(json["outcomes"]).toEqual([{ result: says("Oh.") }]);
});

test("flood asks everything before anything is answered", async () => {
  talk = await open("2025-11-25");
  const params = { name: "misbehave", arguments: { how: "flood", n: 50 } };
  const id = talk.client.begin("tools/call", params);
  const requests: Message[] = [];
  while (requests.length < 50) requests.push(await talk.client.next("sampling/createMessage"));
  for (const request of requests.reverse()) {
    const { text } = request["params"].messages[0].content;
    await talk.wire.send({ jsonrpc: "2.0", id: request["id"], result: says(`To ${text}`) });
  }
  const { result } = await talk.client.response(id);
  const { outcomes } = JSON.parse(result.content[0].text);
  const answers = outcomes.map((outcome: Message) => outcome["result"].content.text);
  expect(answers).toEqual(Array.from({ length: 50 }, (_, i) => `To Question ${i + 1}`));
});

test("flood is one round of 2026-07-28, and asks again for missing answers", async () => {
  talk = await open(modernEra);
  const call = { name: "misbehave", arguments: { how: "flood", n: 3 } };
  const first = await talk.client.request("tools/call", call);
  expect(Object.keys(first["inputRequests"])).toEqual(["round-1-1", "round-1-2", "round-1-3"]);
  const { requestState } = first;
  const some = { "round-1-1": says("1"), "round-1-3": says("3"), other: says("nobody asked") };
  const second = await talk.client.request("tools/call", {
    ...call,
    requestState,
    inputResponses: some,
  });
  expect(Object.keys(second["inputRequests"])).toEqual(["round-1-2"]);
  const third = await talk.client.request("tools/call", {
    ...call,
    requestState: second["requestState"],
    inputResponses: { "round-1-2": says("2") },
  });
  const { outcomes } = JSON.parse(third["content"][0].text);
  expect(outcomes).toEqual(["1", "2", "3"].map((text) => ({ result: says(text) })));
  const forged = { ...call, requestState: "nonsense" };
  expect(await talk.client.error("tools/call", forged)).toMatchObject({ code: -32602 });
});

test.each(["2025-11-25", "2026-07-28"] as const)("deep goes on in %s", async (era) => {
  talk = await open(era, "stdio", { sampling: { tools: {} } });
  const enough = () => says("That is enough.");
  const { json, asked } = await talk.call("misbehave", { how: "deep", n: 4 }, enough);
  expect(asked.map(({ messages }) => messages.length)).toEqual([1, 3, 5, 7]);
  expect(asked[0]?.["toolChoice"]).toEqual({ mode: "required" });
  expect(json).toEqual({ how: "deep", rounds: 4 });
});

test("deep stops at a refusal", async () => {
  talk = await open("2025-11-25");
  const { json } = await talk.call("misbehave", { how: "deep" }, (_params, nth) =>
    nth === 3 ? { error: invalid } : says("Again?"),
  );
  expect(json).toEqual({ how: "deep", rounds: 3, error: invalid });
});

test("it does not misbehave in ways that it does not know", async () => {
  talk = await open("2025-11-25");
  for (const how of ["nicely", "toString"]) {
    const { result } = await talk.call("misbehave", { how });
    expect(result["isError"]).toBe(true);
  }
});
