import type { Ask, Message, SamplingTool } from "@assent/protocol";
import type { Conversation } from "./openTask.ts";

/** An open ask, and the position of its message among the loaded ones. */
export interface OpenAskAt {
  readonly index: number;
  readonly message: Message;
  readonly ask: Ask;
}

// Cached, because long conversations are searched at every event.
const found = new WeakMap<readonly Message[], readonly OpenAskAt[]>();

/** Returns the open asks among messages, oldest first. */
export function findOpenAsks(messages: readonly Message[]): readonly OpenAskAt[] {
  const known = found.get(messages);
  if (known !== undefined) return known;
  const asks: OpenAskAt[] = [];
  messages.forEach((message, index) => {
    const { body } = message;
    if (body.type === "ask" && body.outcome === undefined) asks.push({ index, message, ask: body });
  });
  found.set(messages, asks);
  return asks;
}

/** Returns the open asks of the open task, oldest first. */
export function openAsksOf(conversation: Conversation | undefined): readonly Ask[] {
  return conversation === undefined
    ? []
    : findOpenAsks(conversation.messages).map(({ ask }) => ask);
}

/** Counts the open asks of the open task that are on pages that are not loaded. */
export function countOlderAsks({ task, messages }: Conversation): number {
  return Math.max(0, (task?.openAsks ?? 0) - findOpenAsks(messages).length);
}

/** Returns the tools of the reviewed request; undefined if the request is on an older page. */
export function offeredTo(
  { body }: Message,
  messages: readonly Message[],
): readonly SamplingTool[] | undefined {
  if (body.type !== "ask" || body.question.type !== "mcp_sampling_review") return undefined;
  const { samplingMessageId } = body.question;
  const request = messages.findLast(({ id }) => id === samplingMessageId)?.body;
  return request?.type === "ask" && request.question.type === "mcp_sampling"
    ? request.question.samplingRequest.tools
    : undefined;
}
