import { afterEach, describe, expect, test } from "vitest";
import type { Message } from "../kit/testing/inbox.ts";
import { says } from "../kit/testing/talk.ts";
import { type Model, open, type Talk } from "./testing/converse.ts";

const withTools = { sampling: { tools: {} } };

function calls(...uses: [id: string, name: string, input: Message][]): Message {
  const content = uses.map(([id, name, input]) => ({ type: "tool_use", id, name, input }));
  return { role: "assistant", content, model: "played", stopReason: "toolUse" };
}

describe.each(["2025-11-25", "2026-07-28"] as const)("research in %s", (era) => {
  let talk: Talk | undefined;
  afterEach(async () => await talk?.wire.kill());

  test("runs tools that the model calls at once, and asks again with their results", async () => {
    talk = await open(era, "stdio", withTools);
    const parallel = calls(
      ["a", "get_weather", { city: "Paris" }],
      ["b", "get_time", { zone: "Europe/Paris" }],
      ["c", "get_time", { zone: "Nowhere" }],
      ["d", "rm", {}],
    );
    const model: Model = (_params, nth) => (nth === 1 ? parallel : says("It is 14:00 there."));
    const { result, json, asked } = await talk.call("research", { question: "Paris?" }, model);

    expect(asked.map(({ toolChoice }) => toolChoice)).toEqual([{ mode: "auto" }, { mode: "auto" }]);
    expect(asked[0]?.["tools"].map(({ name }: Message) => name)).toEqual([
      "get_weather",
      "get_time",
    ]);
    const [question, assistant, results] = asked[1]?.["messages"] ?? [];
    expect(question).toEqual({ role: "user", content: { type: "text", text: "Paris?" } });
    expect(assistant).toEqual({ role: "assistant", content: parallel["content"] });
    const said = (text: unknown) => ({ type: "tool_result", content: [{ type: "text", text }] });
    expect(results).toEqual({
      role: "user",
      content: [
        { ...said(expect.stringMatching(/^Weather in Paris: \d+ °C, /)), toolUseId: "a" },
        { ...said("The time in Europe/Paris is 14:00"), toolUseId: "b" },
        { ...said(expect.stringContaining("Nowhere")), toolUseId: "c", isError: true },
        { ...said("there is no tool rm"), toolUseId: "d", isError: true },
      ],
    });
    expect(json).toMatchObject({
      text: "It is 14:00 there.",
      model: "played",
      stopReason: "endTurn",
      rounds: 2,
      complaints: [],
    });
    expect(json["transcript"]).toHaveLength(4);
    expect(result["isError"]).toBe(false);
  });

  test("lets the model call no tool in the last round", async () => {
    talk = await open(era, "stdio", withTools);
    const again: Model = (_params, nth) => calls([`${nth}`, "get_time", { zone: "UTC" }]);
    const { json, asked } = await talk.call("research", { question: "?", rounds: 3 }, again);
    expect(asked.map(({ toolChoice }) => toolChoice.mode)).toEqual(["auto", "auto", "none"]);
    expect(json).toMatchObject({
      rounds: 3,
      complaints: ["round 3: the model called tools, which it was told not to"],
    });
  });

  test("complains of answers that break the rules", async () => {
    talk = await open(era, "stdio", withTools);
    const twice = calls(["a", "get_time", {}], ["a", "get_time", {}]);
    const answers = [
      { ...twice, role: "user", stopReason: "endTurn" },
      { ...says("So."), stopReason: "toolUse" },
    ];
    const model: Model = (_params, nth) => answers[nth - 1] ?? {};
    const { json } = await talk.call("research", { question: "?" }, model);
    expect(json["complaints"]).toEqual([
      "round 1: the role is user",
      "round 1: it stopped for endTurn with tool_use",
      "round 1: two calls have the same id",
      "round 2: it stopped for toolUse without one",
    ]);
  });

  test("does without content", async () => {
    talk = await open(era, "stdio", withTools);
    const { json } = await talk.call("research", { question: "?" }, () => ({ role: "assistant" }));
    expect(json).toMatchObject({ text: "", rounds: 1 });
  });
});

describe("research", () => {
  let talk: Talk | undefined;
  afterEach(async () => await talk?.wire.kill());

  test.each([
    ["2025-06-18", withTools, "a model has no tools in 2025-06-18"],
    ["2025-11-25", { sampling: {} }, "did not declare sampling.tools"],
    ["2026-07-28", { sampling: {} }, "did not declare sampling.tools"],
  ] as const)("says in %s why it cannot", async (era, capabilities, why) => {
    talk = await open(era, "stdio", capabilities);
    const { result, json } = await talk.call("research", { question: "?" });
    expect(result["isError"]).toBe(true);
    expect(json["text"]).toContain(why);
  });

  test("says how far it came when the client refuses", async () => {
    talk = await open("2025-11-25", "stdio", withTools);
    const model: Model = (_params, nth) =>
      nth === 1
        ? calls(["a", "get_time", { zone: "UTC" }])
        : { error: { code: -1, message: "User rejected sampling request" } };
    const { result, json } = await talk.call("research", { question: "?" }, model);
    expect(result["isError"]).toBe(true);
    const error = { code: -1, message: "User rejected sampling request" };
    expect(json).toMatchObject({ error, rounds: 2 });
    expect(json["transcript"]).toHaveLength(3);
  });
});
