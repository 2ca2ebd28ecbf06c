import { afterEach, expect, test, vi } from "vitest";
import { seal, unseal } from "./requestState.mjs";

const key = new Uint8Array(32).fill(7);
const call = { name: "count", arguments: { to: 3, step_ms: 0 } };
const question = { request: { method: "elicitation/create", params: {} }, asked: 0, answered: 0 };
const kept = { taskId: "t", done: { plan: 1 }, progress: 2, questions: { sure: question } };

afterEach(() => vi.useRealTimers());

test("sealed state comes back with the answers to the questions", () => {
  const requestState = seal(key, call, kept);
  const inputResponses = { sure: { action: "decline" }, never: { action: "accept" } };
  // The order of the arguments does not make another call.
  const again = { name: "count", arguments: { step_ms: 0, to: 3 }, requestState, inputResponses };
  const answered = { ...question, answered: 1, answer: { action: "decline" } };
  expect(unseal(key, again)).toEqual({ ...kept, questions: { sure: answered } });
  expect(unseal(key, call)).toBeUndefined();
});

test("an answer that was given is not changed by a later one", () => {
  const first = unseal(key, {
    ...call,
    requestState: seal(key, call, kept),
    inputResponses: { sure: { action: "decline" } },
  });
  if (first === undefined) throw new Error("nothing came back");
  const second = unseal(key, {
    ...call,
    requestState: seal(key, call, first),
    inputResponses: { sure: { action: "accept" } },
  });
  expect(second?.questions["sure"]?.answer).toEqual({ action: "decline" });
});

test("it is refused with another key, for another call, and after its time", () => {
  vi.useFakeTimers();
  const requestState = seal(key, call, kept);
  const refused = (params: object, by = key) => {
    return () => unseal(by, { ...call, requestState, ...params });
  };
  expect(refused({}, new Uint8Array(32))).toThrow("none of this server's");
  expect(refused({ requestState: 7 })).toThrow("none of this server's");
  expect(refused({ arguments: { to: 4, step_ms: 0 } })).toThrow("belongs to another call");
  expect(refused({ inputResponses: [] })).toThrow("inputResponses is no object");
  vi.advanceTimersByTime(7 * 24 * 60 * 60 * 1000);
  expect(refused({})).not.toThrow();
  vi.advanceTimersByTime(1);
  expect(refused({})).toThrow("has expired");
});
