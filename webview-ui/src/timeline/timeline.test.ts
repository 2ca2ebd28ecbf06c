import type {
  Ask,
  Body,
  Message,
  ModelMessage,
  RefusedQuestions,
  UseMcpTool,
} from "@assent/protocol";
import { describe, expect, test } from "vitest";
import {
  answered,
  ask,
  at,
  call,
  elicitation,
  message,
  sampling,
  samplingReview,
} from "../testing/samples.ts";
import { foldOf, shownEntries } from "./replaced.ts";
import { timelineOf } from "./timeline.ts";

const user = (replaces?: number): Body => ({
  type: "user",
  text: "Hello",
  ...(replaces === undefined ? {} : { replaces }),
});
const model = (part: Partial<ModelMessage> = {}): Body => ({
  type: "model",
  end: { reason: "endTurn", at },
  ...part,
});
const use = { messageId: 2, toolUseId: "u1" };
const wants: UseMcpTool = {
  type: "use_mcp_tool",
  serverName: "database",
  toolUse: use,
  tool: { name: "cleanup" },
  arguments: {},
};
const ran = call({ toolUse: use, result: { type: "result" }, endedAt: at });
const form = (messageId?: number) =>
  elicitation(undefined, messageId === undefined ? {} : { messageId });

const messagesOf = (bodies: readonly Body[], first = 1): readonly Message[] =>
  bodies.map((body, index) => message(first + index, body));

/** The ids of the entries, each with those of its steps. */
function told(messages: readonly Message[]) {
  return timelineOf(messages).entries.map(({ message, steps }) => [
    message.id,
    ...steps.map((step) => step.message.id),
  ]);
}

describe("an ask is told", () => {
  test("by the call that caused it, in the order in which things happened", () => {
    const messages = messagesOf([
      call(),
      ask("a1", form(1), answered),
      { type: "notice", level: "info", text: "Meanwhile" },
      ask("a2", sampling({ messageId: 1 }), answered),
      ask("a3", samplingReview({ messageId: 1, samplingMessageId: 4 })),
    ]);
    expect(told(messages)).toEqual([[1, 2, 4, 5], [3]]);
    expect(timelineOf(messages).within.get(5)).toBe(1);
  });

  test("by the call that it allowed, which comes after it", () => {
    const messages = messagesOf([user(), model(), ask("a1", wants, answered), ran]);
    expect(told(messages)).toEqual([[1], [2], [4, 3]]);
  });

  test("by itself if its call is on a page that is not loaded, or not known", () => {
    const messages = messagesOf([ask("a1", form(1), answered), ask("a2", form())], 7);
    expect(told(messages)).toEqual([
      [7, 7],
      [8, 8],
    ]);
  });

  test("by itself, with the reviews of its answer, if no call caused it", () => {
    const messages = messagesOf([
      ask("s1", sampling(), answered),
      ask("r1", samplingReview(), { ...answered, reason: "regenerated" }),
      ask("r2", samplingReview()),
    ]);
    expect(told(messages)).toEqual([[1, 1, 2, 3]]);
    const [entry] = timelineOf(messages).entries;
    expect(entry?.steps.map(({ reviewed }) => reviewed)).toEqual([true, false, false]);
  });

  test("by itself where the call was not made, with what the model was told", () => {
    const said = model({ toolUses: [{ id: "u1", name: "cleanup", error: "The user declined." }] });
    const messages = messagesOf([
      user(),
      said,
      ask("a1", wants, { ...answered, reason: "declined" }),
    ]);
    expect(told(messages)).toEqual([[1], [2], [3, 3]]);
    const { entries } = timelineOf(messages);
    expect(entries[2]?.steps[0]?.told).toBe("The user declined.");
    expect(entries[1]?.asked).toEqual(["u1"]); // the model's message does not say it again
  });
});

describe("notices of refused questions", () => {
  const refused = (count: number, part: Partial<RefusedQuestions> = {}): Body => ({
    type: "notice",
    level: "warning",
    text: `${count} refused`,
    refused: {
      serverName: "database",
      setting: "assent.limits.maxOpen",
      max: 32,
      ...part,
      count,
    },
  });
  const said = (bodies: readonly Body[], first = 1) =>
    timelineOf(messagesOf(bodies, first)).entries.map(({ message: { id, body } }) =>
      body.type === "notice" ? [id, body.text] : [id],
    );

  test("are one, with the newest count, where the first one was", () => {
    const crowd = [user(), refused(1), refused(10), model(), refused(100)];
    expect(said(crowd)).toEqual([[1], [2, "100 refused"], [4]]);
    expect(timelineOf(messagesOf(crowd)).within.get(5)).toBe(2);
    expect(said([refused(10), refused(100)], 70)).toEqual([[70, "100 refused"]]); // the first is not loaded
  });

  test("are others for another server, another cause, and a sidecar that counts anew", () => {
    const crowd = [
      refused(1),
      refused(10),
      refused(100, { serverName: "mail" }),
      refused(1000, { setting: "assent.elicitation.other" }),
      refused(1),
      refused(10),
    ];
    expect(said(crowd)).toEqual([
      [1, "10 refused"],
      [3, "100 refused"],
      [4, "1000 refused"],
      [5, "10 refused"],
    ]);
  });

  test("that do not say what they count stay as they are", () => {
    const old = (text: string): Body => ({ type: "notice", level: "warning", text });
    expect(said([old("A question"), old("10 questions")])).toEqual([
      [1, "A question"],
      [2, "10 questions"],
    ]);
  });

  test("stay the same entry while nothing is counted", () => {
    const messages = messagesOf([refused(1), refused(10)]);
    const before = timelineOf(messages);
    const now = timelineOf([...messages, message(3, user())], before);
    expect(now.entries[0]).toBe(before.entries[0]);
  });
});

describe("an entry", () => {
  const before = timelineOf(
    messagesOf([call(), ask("a1", form(1)), user(), call(), ask("a2", form(4), answered)]),
  );

  test("stays the same object when another one changes", () => {
    const messages = before.entries.flatMap((entry) => [
      entry.message,
      ...entry.steps.map((step) => step.message),
    ]);
    const settled = message(2, ask("a1", form(1), answered));
    const now = timelineOf(
      messages.map((each) => (each.id === 2 ? settled : each)),
      before,
    );
    expect(now.entries.map((entry, n) => entry === before.entries[n])).toEqual([false, true, true]);
  });

  test("has the call that can be made again if nobody knows what it would have returned", () => {
    const lost = { type: "lost", reason: "The server died." } as const;
    const gone = { reason: "serverLost", at } as const;
    const lostCalls = (bodies: readonly Body[]) =>
      timelineOf(messagesOf(bodies)).entries.map(({ lostCall }) => lostCall !== undefined);
    expect(lostCalls([call({ result: lost }), ask("a1", form(1), gone)])).toEqual([true]);
    expect(lostCalls([call({ result: lost, toolUse: use })])).toEqual([false]);
    expect(lostCalls([call({ result: { type: "cancelled" } }), ask("a1", form(1), gone)])).toEqual([
      false,
    ]);
  });
});

describe("what left the conversation", () => {
  const replaced = [user(), model(), ran, user(1), model()];

  function shown(bodies: readonly Body[], opened: readonly number[] = []) {
    const timeline = timelineOf(messagesOf(bodies));
    const rows = shownEntries(timeline, (id) => opened.includes(id));
    return { ...rows, timeline, ids: rows.entries.map((entry) => entry.message.id) };
  }

  test("is folded into what took its place, with its calls", () => {
    const { ids, replaced: n } = shown(replaced);
    expect(ids).toEqual([4, 5]);
    expect([...n]).toEqual([[4, 3]]);
  });

  test("is there again when that is opened", () => {
    const { ids, left } = shown(replaced, [4]);
    expect(ids).toEqual([1, 2, 3, 4, 5]);
    expect([...left]).toEqual([1, 2, 3]);
  });

  test("twice is there when both are opened", () => {
    const twice = [user(), model(), user(1), model(), user(1)];
    expect(shown(twice, [5]).ids).toEqual([3, 4, 5]);
    expect(shown(twice, [3, 5]).ids).toEqual([1, 2, 3, 4, 5]);
    expect(foldOf(shown(twice).timeline, 2)).toBe(5);
  });

  test("does not take with it what the person did, and what waits for them", () => {
    const own = call({ result: { type: "result" } });
    const open: Ask = ask("a1", form(3));
    expect(shown([user(), own, ran, open, user(1)]).ids).toEqual([2, 3, 5]);
    const settled = { ...open, outcome: answered };
    expect(shown([user(), own, ran, settled, user(1)]).ids).toEqual([2, 5]);
  });
});
