import type {
  Ask,
  AskCompleted,
  AskExtended,
  AskSettled,
  AskUndelivered,
  CallAppFound,
  CallEnded,
  CallJoined,
  CallProgressParams,
  CallTaskChanged,
  ChatProgressParams,
  Event,
  McpSampling,
  McpSamplingProgressParams,
  Message,
  ModelMessageEnded,
  SamplingEnded,
  SamplingMoved,
  ToolUseFailed,
} from "@assent/protocol";
import { unreachable } from "../lib/unreachable.ts";
import { indexOfMessage } from "./messages.ts";

/**
 * Applies one event to a task's messages, which are in ascending order of id. The result equals that of task/open.
 * Unchanged messages stay the same objects, so that their rows do not render again. An event about a message that is
 * not loaded (an older page) changes nothing.
 */
export function foldEvent(messages: readonly Message[], event: Event): readonly Message[] {
  switch (event.type) {
    case "taskChanged":
      return messages;
    case "messageAdded":
      return upsert(messages, [event.message]);
    case "askSettled":
      return change(messages, event.messageId, (message) => settle(message, event));
    case "askExtended":
      return change(messages, event.messageId, (message) => extend(message, event));
    case "askCompleted":
      return change(messages, event.messageId, (message) => complete(message, event));
    case "askUndelivered":
      return change(messages, event.messageId, (message) => loseAnswer(message, event));
    case "askDelivered":
      return change(messages, event.messageId, deliver);
    case "samplingMoved":
      return change(messages, event.messageId, (message) => moveSampling(message, event));
    case "samplingEnded":
      return change(messages, event.messageId, (message) => endSampling(message, event));
    case "callEnded":
      return change(messages, event.messageId, (message) => endCall(message, event));
    case "callTaskChanged":
      return change(messages, event.messageId, (message) => changeTask(message, event));
    case "callJoined":
      return change(messages, event.messageId, (message) => joinCall(message, event));
    case "callAppFound":
      return change(messages, event.messageId, (message) => findApp(message, event));
    case "modelMessageEnded":
      return change(messages, event.messageId, (message) => endModelMessage(message, event));
    case "toolUseFailed":
      return change(messages, event.messageId, (message) => failToolUse(message, event));
    default:
      return unreachable(event);
  }
}

/**
 * Sets or removes `Message.unsaved` of the message that an event changed. {@link saved} removes it from all.
 */
export function noteUnsaved(
  messages: readonly Message[],
  event: Event,
  unsaved: boolean,
): readonly Message[] {
  if (event.type === "taskChanged") return messages;
  const id = event.type === "messageAdded" ? event.message.id : event.messageId;
  if ((find(messages, id)?.unsaved ?? false) === unsaved) return messages;
  return change(messages, id, (message) => (unsaved ? { ...message, unsaved } : onDisk(message)));
}

/** Returns the messages when the store can be written again: all are on disk. */
export function saved(messages: readonly Message[]): readonly Message[] {
  return messages.some(({ unsaved }) => unsaved) ? messages.map(onDisk) : messages;
}

function onDisk(message: Message): Message {
  if (message.unsaved === undefined) return message;
  const { unsaved: _over, ...kept } = message;
  return kept;
}

function findApp(message: Message, { appUri }: CallAppFound): Message {
  const { body } = message;
  return body.type === "call" ? { ...message, body: { ...body, appUri } } : message;
}

function extend(message: Message, { expiresAt }: AskExtended): Message {
  const { body } = message;
  return body.type === "ask" ? { ...message, body: { ...body, expiresAt } } : message;
}

function complete(message: Message, { completedAt }: AskCompleted): Message {
  const { body } = message;
  if (body.type !== "ask" || body.outcome === undefined) return message;
  return { ...message, body: { ...body, outcome: { ...body.outcome, completedAt } } };
}

function loseAnswer(message: Message, { reason }: AskUndelivered): Message {
  const { body } = message;
  if (body.type !== "ask" || body.outcome === undefined) return message;
  const { undelivered: _before, ...outcome } = body.outcome;
  const lost = reason === "" ? {} : { undelivered: reason };
  return { ...message, body: { ...body, outcome: { ...outcome, ...lost } } };
}

function deliver(message: Message): Message {
  const { body } = message;
  return body.type === "ask" ? { ...message, body: { ...body, delivered: true } } : message;
}

/**
 * Appends a piece of a completion. A piece that the message already has changes nothing. "gap" means that an earlier
 * piece is missing.
 */
export function foldProgress(
  messages: readonly Message[],
  piece: McpSamplingProgressParams,
): readonly Message[] | "gap" {
  const sampling = samplingOf(find(messages, piece.messageId));
  if (sampling === undefined || sampling.question.result !== undefined) return messages;
  const { text, sequence } = sampling.question.progress ?? { text: "", sequence: 0 };
  if (piece.sequence < sequence) return messages;
  if (piece.sequence > sequence) return "gap";
  return change(messages, piece.messageId, (message) =>
    withQuestion(message, sampling.ask, {
      ...sampling.question,
      progress: { text: text + piece.chunk, sequence: sequence + 1 },
    }),
  );
}

/** Appends a piece of a model's message in a conversation, as {@link foldProgress} does. */
export function foldChatProgress(
  messages: readonly Message[],
  piece: ChatProgressParams,
): readonly Message[] | "gap" {
  const body = find(messages, piece.messageId)?.body;
  if (body?.type !== "model" || body.end !== undefined) return messages;
  const { text, sequence } = body.progress ?? { text: "", sequence: 0 };
  if (piece.sequence < sequence) return messages;
  if (piece.sequence > sequence) return "gap";
  const progress = { text: text + piece.chunk, sequence: sequence + 1 };
  return change(messages, piece.messageId, (message) => ({
    ...message,
    body: { ...body, progress },
  }));
}

/**
 * Applies a call's progress. Progress of an ended call, or older than a reading, changes nothing.
 */
export function foldCallProgress(
  messages: readonly Message[],
  { messageId, progress }: CallProgressParams,
): readonly Message[] {
  const call = find(messages, messageId)?.body;
  if (call?.type !== "call" || call.result !== undefined) return messages;
  if (call.progress !== undefined && call.progress.at > progress.at) return messages;
  return change(messages, messageId, (message) => ({ ...message, body: { ...call, progress } }));
}

/** Replaces messages with the same ids, and inserts new ones. */
export function upsert(messages: readonly Message[], news: readonly Message[]): readonly Message[] {
  const last = messages.at(-1);
  const first = news[0];
  // Usually there is one new message, at the end.
  if (first === undefined) return messages;
  if (last === undefined || last.id < first.id) return [...messages, ...news];
  const byId = new Map(messages.map((message) => [message.id, message]));
  for (const message of news) byId.set(message.id, message);
  return [...byId.values()].sort((a, b) => a.id - b.id);
}

function find(messages: readonly Message[], id: number): Message | undefined {
  return messages[indexOfMessage(messages, id)];
}

function change(
  messages: readonly Message[],
  id: number,
  edit: (message: Message) => Message,
): readonly Message[] {
  const index = indexOfMessage(messages, id);
  const message = messages[index];
  return message === undefined ? messages : messages.with(index, edit(message));
}

function settle(message: Message, event: AskSettled): Message {
  if (message.body.type !== "ask") return message;
  const ask: Ask = { ...message.body, outcome: event.outcome };
  const { question } = ask;
  switch (question.type) {
    case "mcp_elicitation":
    case "mcp_url_elicitation":
      return withQuestion(message, ask, {
        ...question,
        ...(event.elicitationResponse === undefined
          ? {}
          : { elicitationResponse: event.elicitationResponse }),
      });
    case "mcp_sampling": {
      if (event.sentResponse !== undefined) {
        const { model: _proposed, ...rest } = question;
        return withQuestion(message, ask, { ...rest, result: event.sentResponse });
      }
      return withQuestion(message, ask, {
        ...question,
        ...(event.model === undefined ? {} : { model: event.model }),
        ...(event.sentRequest === undefined ? {} : { sentRequest: event.sentRequest }),
      });
    }
    case "mcp_sampling_review":
      return withQuestion(message, ask, {
        ...question,
        ...(event.model === undefined ? {} : { model: event.model }),
        ...(event.sentResponse === undefined ? {} : { sentResponse: event.sentResponse }),
      });
    case "use_mcp_tool":
      return withQuestion(message, ask, {
        ...question,
        ...(event.sentArguments === undefined ? {} : { sentArguments: event.sentArguments }),
      });
    case "host_permission":
      return withQuestion(message, ask, {
        ...question,
        ...(event.permission === undefined ? {} : { answer: event.permission }),
      });
    case "access_mcp_resource":
    case "repeat_mcp_call":
      return withQuestion(message, ask, question);
    default:
      return unreachable(question);
  }
}

function endCall(message: Message, { endedAt, result }: CallEnded): Message {
  if (message.body.type !== "call") return message;
  const { progress: _last, ...call } = message.body;
  return { ...message, body: { ...call, endedAt, result } };
}

function changeTask(message: Message, { task }: CallTaskChanged): Message {
  if (message.body.type !== "call") return message;
  return { ...message, body: { ...message.body, task } };
}

function joinCall(message: Message, { joined }: CallJoined): Message {
  if (message.body.type !== "call") return message;
  const { joined: _before, ...call } = message.body;
  return { ...message, body: { ...call, ...(joined !== undefined && { joined }) } };
}

function endModelMessage(message: Message, { modelMessage }: ModelMessageEnded): Message {
  return message.body.type === "model"
    ? { ...message, body: { ...modelMessage, type: "model" } }
    : message;
}

function failToolUse(message: Message, { toolUseId, error }: ToolUseFailed): Message {
  const { body } = message;
  if (body.type !== "model") return message;
  const toolUses = (body.toolUses ?? []).map((use) =>
    use.id === toolUseId ? { ...use, error } : use,
  );
  return { ...message, body: { ...body, toolUses } };
}

function moveSampling(message: Message, event: SamplingMoved): Message {
  const sampling = samplingOf(message);
  if (sampling === undefined) return message;
  const { progress: _written, inReview: _before, ...question } = sampling.question;
  const { model, inReview = false, progress } = event;
  return withQuestion(message, sampling.ask, {
    ...question,
    ...(model === undefined ? {} : { model }),
    ...(inReview && { inReview }),
    ...(progress === undefined ? {} : { progress }),
  });
}

function endSampling(message: Message, event: SamplingEnded): Message {
  const sampling = samplingOf(message);
  if (sampling === undefined) return message;
  const { progress: _written, inReview: _before, ...question } = sampling.question;
  return withQuestion(message, sampling.ask, {
    ...question,
    result: event.result,
    ...(event.usage === undefined ? {} : { usage: event.usage }),
  });
}

function samplingOf(
  message: Message | undefined,
): { readonly ask: Ask; readonly question: McpSampling } | undefined {
  const ask = message?.body;
  return ask?.type === "ask" && ask.question.type === "mcp_sampling"
    ? { ask, question: ask.question }
    : undefined;
}

function withQuestion(message: Message, ask: Ask, question: Ask["question"]): Message {
  return { ...message, body: { ...ask, question } };
}
