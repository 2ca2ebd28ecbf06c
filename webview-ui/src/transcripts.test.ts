import type { FrontEndNotifications, OpenTaskParams, OpenTaskResult } from "@assent/protocol";
import { describe, expect, test } from "vitest";
import { Message, type RequestMessage, type ResponseMessage } from "vscode-jsonrpc/browser";
import { type Client, createClient, type Requests } from "./link/client.ts";
import { progressed, taskEvent, taskRead, taskSelected } from "./store/conversation.ts";
import type { Conversation } from "./store/openTask.ts";
import { initialState } from "./store/session.ts";
import type { Change, State } from "./store/state.ts";
import { pipe } from "./testing/host.ts";
import { parseTxtar } from "./testing/txtar.ts";

// Conversations between a front end and the sidecar, which the sidecar's tests replay too. Here the
// typed client says the front end's lines, and the store folds the sidecar's.

const transcripts = import.meta.glob<string>("../../protocol/testdata/*.txtar", {
  query: "?raw",
  import: "default",
  eager: true,
});

const names = Object.keys(transcripts);

test("there are transcripts", () => {
  expect(names).not.toEqual([]);
});

describe.each(names)("%s", (name) => {
  test("is spoken and understood", async () => {
    await replay(lines(transcripts[name] ?? ""));
  });
});

interface Line {
  readonly speaker: "frontend" | "sidecar";
  readonly message: Message;
}

function lines(archive: string): readonly Line[] {
  return parseTxtar(archive).flatMap(({ name, text }) =>
    name === "frontend" || name === "sidecar"
      ? text
          .split("\n")
          .filter((line) => line.trim() !== "")
          .map((line): Line => ({ speaker: name, message: JSON.parse(line) }))
      : [],
  );
}

/**
 * Plays a conversation in its order. What the sidecar asks of its host, and what only the host says,
 * never reaches a webview, so it is left out.
 */
async function replay(conversation: readonly Line[]): Promise<void> {
  const [here, there] = pipe();
  const client = createClient(here);
  const emitted = new Emitted();
  there.reader.listen((message) => emitted.add(message));
  const tasks = new Tasks();
  let heard = 0;
  for (const method of notifications) {
    client.onNotification(method, (params) => {
      heard++;
      tasks.hear(method, params);
    });
  }
  const pending = new Map<RequestMessage["id"], Pending>();
  const open = openings(conversation);

  for (const { speaker, message } of conversation) {
    if (speaker === "frontend" && Message.isRequest(message)) {
      const { method, params } = message;
      const controller = new AbortController();
      const answer = say(client, method, params, controller.signal);
      const said = await emitted.next(Message.isRequest);
      expect({ method: said.method, params: said.params }).toEqual({ method, params });
      pending.set(message.id, { said, answer, controller });
    } else if (speaker === "frontend" && isCancellation(message)) {
      const request = pending.get(message.params.id);
      request?.controller.abort();
      const said = await emitted.next(isCancellation);
      expect(said.params.id).toBe(request?.said.id);
    } else if (speaker === "sidecar" && Message.isResponse(message)) {
      const request = pending.get(message.id);
      if (request === undefined) throw new Error(`nobody asked ${JSON.stringify(message)}`);
      pending.delete(message.id);
      await there.writer.write({ ...message, id: request.said.id } as ResponseMessage);
      expect(await request.answer).toEqual({ result: message.result, error: message.error });
      if (request.said.method === "task/open" && message.error === undefined) {
        const { taskId } = request.said.params as unknown as OpenTaskParams;
        const result = message.result as unknown as OpenTaskResult;
        if (open.isLast(taskId, message)) tasks.check(result);
        tasks.read(result);
      }
    } else if (speaker === "sidecar" && Message.isNotification(message)) {
      const before = heard;
      await there.writer.write(message);
      if (isHeard(message.method)) {
        await expect.poll(() => heard, { interval: 1 }).toBe(before + 1);
      }
    }
  }
  expect(emitted.messages).toEqual([]);
  client.dispose();
}

const notifications: readonly (keyof FrontEndNotifications)[] = [
  "task/event",
  "ask/unattributedChanged",
  "mcpSamplingProgress",
  "callProgress",
  "chat/progress",
  "server/changed",
  "servers/changed",
  "server/itemsChanged",
  "storage/failed",
  "storage/recovered",
];

function isHeard(method: string): boolean {
  return notifications.some((known) => known === method);
}

interface Pending {
  /** The request as the client sent it. */
  readonly said: RequestMessage;
  readonly answer: Promise<{ readonly result: unknown; readonly error: unknown }>;
  readonly controller: AbortController;
}

/** Says a line through the typed client. The result has the shape of a response. */
async function say(client: Client, method: string, params: unknown, signal: AbortSignal) {
  const request = client.request as (
    method: keyof Requests,
    params: unknown,
    options: { signal: AbortSignal },
  ) => Promise<unknown>;
  try {
    return {
      result: await request(method as keyof Requests, params, { signal }),
      error: undefined,
    };
  } catch (error) {
    const { code, message, data } = error as { code: number; message: string; data?: unknown };
    return { result: undefined, error: { code, message, ...(data === undefined ? {} : { data }) } };
  }
}

/** What the client emitted, in its order. */
class Emitted {
  readonly messages: Message[] = [];
  private added = (): void => {};

  add(message: Message): void {
    this.messages.push(message);
    this.added();
  }

  /** Takes the next message, now or when it comes. */
  async next<M extends Message>(is: (message: Message | undefined) => message is M): Promise<M> {
    if (this.messages.length === 0) {
      await new Promise<void>((resolve) => {
        this.added = resolve;
      });
    }
    const message = this.messages.shift();
    if (!is(message)) throw new Error(`expected another message, got ${JSON.stringify(message)}`);
    return message;
  }
}

interface Cancellation extends Message {
  readonly params: { readonly id: number };
}

function isCancellation(message: Message | undefined): message is Cancellation {
  return Message.isNotification(message) && message.method === "$/cancelRequest";
}

/** The last reading of each task from its start or from an event. Pages of older messages do not count. */
function openings(conversation: readonly Line[]) {
  const asked = new Map<unknown, OpenTaskParams>();
  const last = new Map<string, Message>();
  for (const { speaker, message } of conversation) {
    if (speaker === "frontend" && Message.isRequest(message) && message.method === "task/open") {
      asked.set(message.id, message.params as unknown as OpenTaskParams);
    } else if (speaker === "sidecar" && Message.isResponse(message)) {
      const params = asked.get(message.id);
      asked.delete(message.id);
      if (params === undefined || params.before !== undefined || message.error) continue;
      last.set(params.taskId, message);
    }
  }
  return { isLast: (taskId: string, message: Message) => last.get(taskId) === message };
}

/** Every task of a conversation, as the store has it when that task is the open one. */
class Tasks {
  private readonly states = new Map<string, State>();
  /** How each task stood after each of its events: a reading may be overtaken by the next ones. */
  private readonly stood = new Map<string, Conversation>();

  hear(method: keyof FrontEndNotifications, params: unknown): void {
    if (method === "task/event") {
      const event = params as FrontEndNotifications["task/event"];
      this.play(event.taskId, taskEvent(event));
    } else if (method === "mcpSamplingProgress") {
      const piece = params as FrontEndNotifications["mcpSamplingProgress"];
      this.play(piece.taskId, progressed({ type: "samplingProgress", params: piece }));
    } else if (method === "callProgress") {
      const progress = params as FrontEndNotifications["callProgress"];
      this.play(progress.taskId, progressed({ type: "callProgress", params: progress }));
    } else if (method === "chat/progress") {
      const piece = params as FrontEndNotifications["chat/progress"];
      this.play(piece.taskId, progressed({ type: "chatProgress", params: piece }));
    }
  }

  read(result: OpenTaskResult): void {
    this.play(result.task.id, taskRead(result.task.id, result));
  }

  /** The events so far must have made what the sidecar says that there is. */
  check({ task, messages = [], reset = false, earlier = false }: OpenTaskResult): void {
    const stood = this.stood.get(`${task.id}:${task.lastNumber}`);
    if (stood === undefined) return; // The conversation begins with this reading.
    expect(stood.task).toEqual(task);
    const read = new Set(messages.map(({ id }) => id));
    const folded = stood.messages.filter(({ id }) => read.has(id) || (reset && !earlier));
    expect(folded).toEqual(messages);
  }

  private play(taskId: string, change: Change): void {
    const state = change(this.states.get(taskId) ?? nothingOf(taskId));
    this.states.set(taskId, state);
    const open = state.conversation;
    if (open?.behind === undefined && open !== undefined) {
      this.stood.set(`${taskId}:${open.lastNumber}`, open);
    }
  }
}

/** A task of which nothing has happened yet. */
function nothingOf(taskId: string): State {
  const task = { id: taskId, title: "", createdAt: 0, openAsks: 0, lastNumber: 0 };
  return [taskSelected(taskId), taskRead(taskId, { task, reset: true })].reduce<State>(
    (state, change) => change(state),
    initialState,
  );
}
