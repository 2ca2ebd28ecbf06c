import type { ChatProgressParams, Message, ModelMessage } from "@assent/protocol";
import { expect, test } from "vitest";
import { at, message, task } from "../testing/samples.ts";
import { progressed, taskRead, taskSelected } from "./conversation.ts";
import { foldChatProgress } from "./fold.ts";
import { initialState } from "./session.ts";
import type { Change, State } from "./state.ts";

const said = (part: Partial<ModelMessage>): Message => message(2, { type: "model", ...part });
const writing = said({ progress: { text: "So ", sequence: 1 } });
const piece = (part: Partial<ChatProgressParams> = {}): ChatProgressParams => ({
  taskId: "t1",
  messageId: 2,
  sequence: 1,
  chunk: "far",
  ...part,
});

test("a piece of what a model writes is added to the others", () => {
  const other = message(1, { type: "user", text: "Hello" });
  const folded = foldChatProgress([other, writing], piece());
  expect(folded).toEqual([other, said({ progress: { text: "So far", sequence: 2 } })]);
  expect(folded[0]).toBe(other);
});

test.each<[string, Message, Partial<ChatProgressParams>]>([
  ["came before", writing, { sequence: 0 }],
  ["is of a message that ended", said({ text: "Done", end: { reason: "endTurn", at } }), {}],
  ["is of a message on an older page", writing, { messageId: 1 }],
])("a piece that %s changes nothing", (_, first, part) => {
  const messages = [first];
  expect(foldChatProgress(messages, piece(part))).toBe(messages);
});

test("where a piece is missing, the task is read again, and pieces wait for that", () => {
  const open = task({ running: true });
  const read = (messages: readonly Message[]): Change =>
    taskRead("t1", { task: open, messages, reset: true });
  const changes: readonly Change[] = [
    taskSelected("t1"),
    read([writing]),
    progressed({ type: "chatProgress", params: piece({ sequence: 2, chunk: "!" }) }),
    progressed({ type: "chatProgress", params: piece({ sequence: 3, chunk: "?" }) }),
  ];
  const state = changes.reduce<State>((now, change) => change(now), initialState);
  expect(state.conversation?.behind).toBe(open.lastNumber);
  const whole = read([said({ progress: { text: "So far!", sequence: 3 } })])(state);
  expect(whole.conversation?.messages).toEqual([
    said({ progress: { text: "So far!?", sequence: 4 } }),
  ]);
});
