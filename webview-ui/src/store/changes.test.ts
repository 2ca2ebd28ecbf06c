import type { Event, McpSamplingResponse, Message, TaskEventParams } from "@assent/protocol";
import { describe, expect, test } from "vitest";
import {
  answered,
  ask,
  at,
  call,
  demoModel,
  elicitation,
  message,
  otherModel,
  sampling,
  server,
  task,
} from "../testing/samples.ts";
import {
  pageRead,
  pageRequested,
  pagesForgotten,
  progressed,
  taskEvent,
  taskInvalidated,
  taskRead,
  taskSelected,
} from "./conversation.ts";
import { statusReceived } from "./host.ts";
import { offersChanged } from "./offers.ts";
import { serverChanged, serversListed } from "./servers.ts";
import { initialState } from "./session.ts";
import type { Change, State } from "./state.ts";
import { set } from "./state.ts";
import { storageNoteDismissed, storageNoted, storageRecovered } from "./storage.ts";
import { tasksListed } from "./tasks.ts";

/** A state in which a task with these messages was read. */
function reading(messages: readonly Message[], lastNumber = 1): State {
  return play(
    initialState,
    statusReceived({ state: "running" }),
    tasksListed([task({ lastNumber })]),
    taskSelected("t1"),
    taskRead("t1", { task: task({ lastNumber }), messages, reset: true }),
  );
}

function play(state: State, ...changes: readonly Change[]): State {
  return changes.reduce((now, change) => change(now), state);
}

function event(number: number, change: Event, part: Partial<TaskEventParams> = {}): Change {
  return taskEvent({ taskId: "t1", number, openAsks: 0, event: change, ...part });
}

function added(id: number): Event {
  return { type: "messageAdded", message: message(id, call()) };
}

function piece(sequence: number, chunk: string, messageId = 1): Change {
  return progressed({
    type: "samplingProgress",
    params: { taskId: "t1", messageId, sequence, chunk },
  });
}

function ids(state: State): readonly number[] | undefined {
  return state.conversation?.messages.map(({ id }) => id);
}

function bodyOf(state: State, index = 0) {
  return state.conversation?.messages[index]?.body;
}

describe("events", () => {
  test("are folded in, and change nothing but their message", () => {
    const before = reading([message(1, call()), message(2, call())]);
    const after = play(
      before,
      event(2, { type: "callEnded", messageId: 2, endedAt: at, result: { type: "cancelled" } }),
    );
    expect(bodyOf(after, 1)).toEqual(call({ endedAt: at, result: { type: "cancelled" } }));
    expect(after.conversation?.messages[0]).toBe(before.conversation?.messages[0]);
    expect(after.conversation?.task?.lastNumber).toBe(2);
    expect(after.tasks?.[0]?.lastNumber).toBe(2);
  });

  test("that were folded in already change nothing", () => {
    const state = reading([message(1, call())], 5);
    expect(play(state, event(5, added(9)), event(3, added(8)))).toEqual(state);
  });

  test("after a gap wait until the task is read again from the last number", () => {
    const gap = play(reading([message(1, call())]), event(3, added(3)), event(4, added(4)));
    expect(ids(gap)).toEqual([1]);
    expect(gap.conversation?.behind).toBe(1);

    // The reading ends with event 3, so only event 4 is still news.
    const healed = play(
      gap,
      taskRead("t1", {
        task: task({ lastNumber: 3 }),
        messages: [message(2, call()), message(3, call())],
      }),
    );
    expect(ids(healed)).toEqual([1, 2, 3, 4]);
    expect(healed.conversation).toMatchObject({ behind: undefined, lastNumber: 4, buffered: [] });
  });

  test("about the task change it here and in the list", () => {
    const state = play(
      reading([]),
      event(2, { type: "taskChanged", task: task({ title: "Renamed", lastNumber: 2 }) }),
      event(3, added(1), { openAsks: 2 }),
    );
    const want = task({ title: "Renamed", openAsks: 2, lastNumber: 3 });
    expect(state.conversation?.task).toEqual(want);
    expect(state.tasks).toEqual([want]);
  });

  test("of another task only change the list", () => {
    const other = task({ id: "t2", title: "Second" });
    const state = play(
      reading([]),
      event(1, { type: "taskChanged", task: other }, { taskId: "t2" }),
      event(2, added(1), { taskId: "t2", openAsks: 1 }),
    );
    expect(state.tasks).toEqual([{ ...other, openAsks: 1, lastNumber: 2 }, task()]);
    expect(ids(state)).toEqual([]);
  });

  test("of a task that is not in the list show that the list is old", () => {
    const state = play(reading([]), event(7, added(1), { taskId: "t9" }));
    expect(state.tasksMissed).toBe(true);
    expect(play(state, tasksListed([])).tasksMissed).toBe(false);
  });

  test("about a message on an older page are counted and change nothing", () => {
    const state = play(
      reading([message(5, call())]),
      event(2, { type: "callEnded", messageId: 1, endedAt: at, result: { type: "cancelled" } }),
    );
    expect(state.conversation).toMatchObject({ lastNumber: 2, behind: undefined });
    expect(ids(state)).toEqual([5]);
  });
});

describe("an ask", () => {
  test.each([
    ["answered", { action: "accept", content: { reason: "x" } }],
    ["declined", { action: "decline" }],
    ["dismissed", { action: "cancel" }],
    ["serverStoppedWaiting", undefined],
    ["serverLost", undefined],
    ["restarted", undefined],
  ] as const)("that is %s tells what the server was told", (reason, response) => {
    const outcome = { reason, at };
    const state = play(
      reading([message(1, ask("a1", elicitation()))]),
      event(2, {
        type: "askSettled",
        messageId: 1,
        outcome,
        ...(response === undefined ? {} : { elicitationResponse: response }),
      }),
    );
    expect(bodyOf(state)).toEqual(
      ask(
        "a1",
        elicitation(undefined, response === undefined ? {} : { elicitationResponse: response }),
        outcome,
      ),
    );
  });

  test("tells that the server did not get the answer, or got it after all", () => {
    const told = (number: number, reason: string) =>
      event(number, { type: "askUndelivered", messageId: 1, reason });
    const lost = play(reading([message(1, ask("a1", elicitation(), answered))]), told(2, "Gone."));
    expect(bodyOf(lost)).toEqual(ask("a1", elicitation(), { ...answered, undelivered: "Gone." }));
    expect(bodyOf(play(lost, told(3, "")))).toEqual(ask("a1", elicitation(), answered));
  });

  test("that is in memory only says so until the store can be written", () => {
    const open = message(1, ask("a1", elicitation()));
    const outcome: Event = { type: "askSettled", messageId: 1, outcome: answered };
    const settled = event(2, outcome, { unsaved: true });
    const recovers: Change = storageRecovered("It works again.");
    const saved = [message(1, ask("a1", elicitation(), answered))];
    const unsaved = play(reading([open]), settled);
    expect(unsaved.conversation?.messages[0]?.unsaved).toBe(true);
    expect(play(unsaved, recovers).conversation?.messages).toEqual(saved);
    const result = { task: task(), messages: [open], reset: true };
    const whileReading = play(
      reading([open]),
      taskInvalidated("t1"),
      settled,
      recovers,
      taskRead("t1", result),
    );
    expect(whileReading.conversation?.messages).toEqual(saved);
    const changed = play(unsaved, event(3, { type: "askDelivered", messageId: 1 }));
    expect(changed.conversation?.messages[0]).not.toHaveProperty("unsaved");
  });

  test("for a completion names the model that answers", () => {
    const state = play(
      reading([message(1, ask("a1", sampling()))]),
      event(2, { type: "askSettled", messageId: 1, outcome: answered, model: otherModel }),
    );
    expect(bodyOf(state)).toEqual(ask("a1", sampling({ model: otherModel }), answered));
  });

  test("of a completion by hand brings what the server got, and the proposed model is gone", () => {
    const sentResponse: McpSamplingResponse = {
      type: "response",
      role: "assistant",
      content: [{ type: "text", text: "Hello" }],
      model: "human",
      byPerson: true,
    };
    const state = play(
      reading([message(1, ask("a1", sampling()))]),
      event(2, { type: "askSettled", messageId: 1, outcome: answered, sentResponse }),
    );
    const { model: _proposed, ...rest } = sampling();
    expect(bodyOf(state)).toEqual(ask("a1", { ...rest, result: sentResponse }, answered));
  });
});

describe("a completion", () => {
  const approved = () => reading([message(1, ask("a1", sampling(), answered))]);
  const progressOf = (state: State) => {
    const body = bodyOf(state);
    return body?.type === "ask" && body.question.type === "mcp_sampling"
      ? body.question.progress
      : undefined;
  };

  test("grows piece by piece", () => {
    const state = play(approved(), piece(0, "The "), piece(1, "risk"));
    expect(progressOf(state)).toEqual({ text: "The risk", sequence: 2 });
  });

  test("ignores pieces that its snapshot has already", () => {
    const progress = { text: "The risk", sequence: 2 };
    const state = play(
      reading([message(1, ask("a1", sampling({ progress }), answered))]),
      piece(1, "risk"),
      piece(2, " is"),
    );
    expect(progressOf(state)).toEqual({ text: "The risk is", sequence: 3 });
  });

  test("that misses a piece is read again", () => {
    const gap = play(approved(), piece(0, "The "), piece(2, "is"), piece(3, " low"));
    expect(gap.conversation?.behind).toBe(1);
    const progress = { text: "The risk is", sequence: 3 };
    const healed = play(
      gap,
      taskRead("t1", {
        task: task(),
        messages: [message(1, ask("a1", sampling({ progress }), answered))],
      }),
    );
    expect(progressOf(healed)).toEqual({ text: "The risk is low", sequence: 4 });
  });

  test("ends with its result, and takes no more pieces", () => {
    const result = { type: "failure", reason: "The model is gone." } as const;
    const state = play(
      approved(),
      piece(0, "The "),
      event(2, { type: "samplingEnded", messageId: 1, result }),
      piece(0, "late"),
      piece(1, "later"),
    );
    expect(state.conversation?.behind).toBeUndefined();
    expect(bodyOf(state)).toEqual(ask("a1", sampling({ model: demoModel, result }), answered));
  });
});

describe("the progress of a call", () => {
  const far = (progress: number, at: number, messageId = 1): Change =>
    progressed({
      type: "callProgress",
      params: { taskId: "t1", messageId, progress: { progress, at } },
    });
  const running = () => reading([message(1, call()), message(2, call())]);

  test("is kept until the call ends", () => {
    const before = running();
    const state = play(before, far(1, at), far(2, at + 1));
    expect(bodyOf(state)).toEqual(call({ progress: { progress: 2, at: at + 1 } }));
    expect(state.conversation?.messages[1]).toBe(before.conversation?.messages[1]);
    const result = { type: "cancelled" } as const;
    const over = play(
      state,
      event(2, { type: "callEnded", messageId: 1, endedAt: at, result }),
      far(3, at + 2),
    );
    expect(bodyOf(over)).toEqual(call({ endedAt: at, result }));
  });

  test("of before a reading does not undo it", () => {
    const read = call({ progress: { progress: 5, at: at + 5 } });
    const state = play(
      reading([]),
      event(3, added(2)),
      far(4, at + 4),
      taskRead("t1", { task: task({ lastNumber: 2 }), messages: [message(1, read)] }),
    );
    expect(bodyOf(state)).toEqual(read);
    expect(ids(state)).toEqual([1, 2]);
  });

  test("for anything but a loaded call changes nothing", () => {
    const state = reading([message(1, ask("a1", sampling()))]);
    expect(play(state, far(1, at), far(1, at, 9)).conversation?.messages).toBe(
      state.conversation?.messages,
    );
  });
});

test("what became of the store is said once", () => {
  const noted: Change = storageNoted("It was set aside.");
  const state = play(reading([]), noted, storageNoteDismissed, noted);
  expect(state.storageNote).toEqual({ message: "It was set aside.", dismissed: true });
  const news = play(state, storageRecovered("It works again."));
  expect(news.storageNote?.dismissed).toBe(false);
});

describe("a sidecar that was restarted", () => {
  const restart: Change = statusReceived({ state: "running" });

  test("is asked for everything after the last number", () => {
    const before = play(
      reading([message(1, call())], 4),
      set({ storageFailure: "The disk is full.", failure: "Assent is starting." }),
    );
    const state = play(before, restart);
    expect(state.conversation?.behind).toBe(4);
    expect(ids(state)).toEqual([1]);
    expect(state.storageFailure).toBeUndefined();
    expect(state.failure).toBeUndefined();
  });

  test("that forgot replaces everything", () => {
    const state = play(
      reading([message(1, call()), message(2, call())], 9),
      restart,
      taskRead("t1", {
        task: task({ lastNumber: 3 }),
        messages: [message(1, call())],
        reset: true,
      }),
    );
    expect(ids(state)).toEqual([1]);
    expect(state.conversation).toMatchObject({ lastNumber: 3, behind: undefined });
  });

  test("may have renumbered its tasks", () => {
    const state = play(
      reading([], 9),
      restart,
      tasksListed([task({ title: "As it is now", lastNumber: 2 })]),
    );
    expect(state.tasks?.[0]?.title).toBe("As it is now");
  });
});

describe("reading", () => {
  test("drops older messages where too much has changed", () => {
    const state = play(
      reading([message(1, call()), message(2, call())]),
      event(9, added(9)),
      taskRead("t1", {
        task: task({ lastNumber: 9 }),
        messages: [message(9, call())],
        reset: true,
        earlier: true,
      }),
    );
    expect(ids(state)).toEqual([9]);
    expect(state.conversation?.earlier).toBe(true);
  });

  test("leaves out what changed on older pages, between which and these messages others are", () => {
    const first = reading([message(8, call()), message(9, call())]);
    const paged = play(
      first,
      pageRequested("t1"),
      pageRead("t1", { task: task(), messages: [message(7, call())], earlier: true }),
      taskInvalidated("t1"),
      taskRead("t1", {
        task: task({ lastNumber: 5 }),
        messages: [3, 8, 10].map((id) => message(id, call())),
      }),
    );
    expect(ids(paged)).toEqual([7, 8, 9, 10]);
  });

  test("returns to a dropped position", () => {
    const many = reading(Array.from({ length: 9 }, (_, n) => message(n + 1, call())));
    const dropped = play(many, pagesForgotten("t1", 7));
    expect(ids(dropped)).toEqual([7, 8, 9]);
    expect(dropped.conversation?.earlier).toBe(true);
    const paging = play(many, pageRequested("t1"));
    expect(play(paging, pagesForgotten("t1", 7))).toEqual(paging);
  });

  test("an older page delays events, which it would otherwise undo", () => {
    const state = play(
      reading([message(2, call())]),
      pageRequested("t1"),
      event(2, { type: "callEnded", messageId: 1, endedAt: at, result: { type: "cancelled" } }),
      pageRead("t1", { task: task(), messages: [message(1, call())] }),
    );
    expect(ids(state)).toEqual([1, 2]);
    expect(bodyOf(state)).toEqual(call({ endedAt: at, result: { type: "cancelled" } }));
    expect(state.conversation).toMatchObject({ paging: false, buffered: [] });
  });

  test("a task that is not open any more changes nothing of the one that is", () => {
    const state = play(
      reading([]),
      taskSelected("t2"),
      taskRead("t1", { task: task(), messages: [message(1, call())] }),
    );
    expect(state.conversation).toMatchObject({ taskId: "t2", behind: 0, messages: [] });
  });

  test("the list does not undo newer events", () => {
    const state = play(
      reading([]),
      event(2, { type: "taskChanged", task: task({ title: "New", lastNumber: 2 }) }),
      tasksListed([task({ title: "Old", lastNumber: 1 })]),
    );
    expect(state.tasks?.[0]?.title).toBe("New");
  });
});

describe("a server's offers", () => {
  const ready = { state: "ready", items: [] } as const;
  const listed: State = play(
    initialState,
    serversListed({ servers: [server()] }),
    offersChanged("database", { tools: ready }),
  );
  const changed = (state: "starting" | "running"): Change => serverChanged(server({ state }));

  test("are over when it starts again", () => {
    expect(play(listed, changed("starting")).offers.get("database")).toEqual({});
  });

  test("that are being read stay so while it starts", () => {
    const loading = play(
      listed,
      serverChanged(server({ state: "stopped" })),
      offersChanged("database", { tools: { state: "loading" } }),
      changed("starting"),
      changed("running"),
    );
    expect(loading.offers.get("database")).toEqual({ tools: { state: "loading" } });
  });

  test("that could not be read are read again once it runs, the others stay", () => {
    const prompts = { state: "failed", message: "no" } as const;
    const failed = play(
      listed,
      serverChanged(server({ state: "failed" })),
      offersChanged("database", { prompts }),
      changed("running"),
    );
    expect(failed.offers.get("database")).toEqual({ tools: ready });
  });
});
