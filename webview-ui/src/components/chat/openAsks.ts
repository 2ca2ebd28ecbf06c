import type { Ask, Message, SamplingTool, Task } from "@assent/protocol";
import type { Conversation, State } from "../../state/state.ts";

/** An open ask, and where its message is among those that were read. */
export interface OpenAskAt {
  readonly index: number;
  readonly ask: Ask;
}

// Whoever reads a long conversation has all of it here, and several want to know this at every event.
const found = new WeakMap<readonly Message[], readonly OpenAskAt[]>();

/** The open asks among messages, the oldest first. */
export function findOpenAsks(messages: readonly Message[]): readonly OpenAskAt[] {
  const known = found.get(messages);
  if (known !== undefined) return known;
  const asks: OpenAskAt[] = [];
  messages.forEach(({ body }, index) => {
    if (body.type === "ask" && body.outcome === undefined) asks.push({ index, ask: body });
  });
  found.set(messages, asks);
  return asks;
}

/** The asks of the open task that wait for the person, the oldest first. */
export function openAsksOf(conversation: Conversation | undefined): readonly Ask[] {
  return conversation === undefined
    ? []
    : findOpenAsks(conversation.messages).map(({ ask }) => ask);
}

/** The oldest of the open asks that an MCP task waits for, where the message is its call. */
export function askOf({ id, body }: Message, asks: readonly Ask[]): string | undefined {
  if (body.type !== "call" || body.task?.status !== "input_required") return undefined;
  return asks.find(({ question }) => question.messageId === id)?.askId;
}

/** The other tasks of this window with asks, the oldest task first. */
export function waitingElsewhere({ tasks = [], conversation }: State): readonly Task[] {
  return tasks
    .filter(
      ({ id, openAsks, elsewhere }) =>
        openAsks > 0 && elsewhere === undefined && id !== conversation?.taskId,
    )
    .toReversed();
}

/** The tools of the request whose answer the message reviews; nothing where it is on an older page. */
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
