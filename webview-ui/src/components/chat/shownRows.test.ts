import type { Ask, Body, Message, ModelMessage, UseMcpTool } from "@assent/protocol";
import { describe, expect, test } from "vitest";
import { answered, ask, at, call, elicitation, message } from "../../testing/samples.ts";
import { foldOf, shownRows } from "./shownRows.ts";

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

function shown(bodies: readonly Body[], opened: readonly number[] = []) {
  const messages = bodies.map((body, index) => message(index + 1, body));
  const rows = shownRows(messages, (id) => opened.includes(id));
  return { ids: rows.messages.map(({ id }) => id), same: rows.messages === messages, ...rows };
}

describe("what left the conversation", () => {
  const replaced = [user(), model(), ran, user(1), model()];

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
    expect(
      foldOf(
        twice.map((body, i): Message => message(i + 1, body)),
        2,
      ),
    ).toBe(5);
  });

  test("does not take with it what the person did, and what waits for them", () => {
    const own = call({ result: { type: "result" } });
    const open: Ask = ask("a1", elicitation(undefined, { messageId: 3 }));
    expect(shown([user(), own, ran, open, user(1)]).ids).toEqual([2, 4, 5]);
    const settled = { ...open, outcome: answered };
    expect(shown([user(), own, ran, settled, user(1)]).ids).toEqual([2, 5]);
  });
});

describe("a settled question about a call of a model's", () => {
  test("is told by the call", () => {
    const { ids, approvals } = shown([user(), model(), ask("a1", wants, answered), ran]);
    expect(ids).toEqual([1, 2, 4]);
    expect(approvals.get(4)?.askId).toBe("a1");
  });

  test("is told by the model's message where there is no call", () => {
    const said = model({ toolUses: [{ id: "u1", name: "cleanup", error: "The user declined." }] });
    expect(shown([user(), said, ask("a1", wants, answered)]).ids).toEqual([1, 2]);
  });

  test("has a row where a standing refusal settled it: that is where it is changed", () => {
    const said = model({ toolUses: [{ id: "u1", name: "cleanup", error: "Not allowed." }] });
    const never = ask("a1", wants, { ...answered, reason: "denied", standing: "never" });
    expect(shown([user(), said, never]).ids).toEqual([1, 2, 3]);
  });

  test("is shown until either is there, and while it is open", () => {
    expect(shown([user(), model(), ask("a1", wants, answered)]).ids).toEqual([1, 2, 3]);
    const { ids, same } = shown([user(), model(), ask("a1", wants), ran]);
    expect(ids).toEqual([1, 2, 3, 4]);
    expect(same).toBe(true);
  });
});
