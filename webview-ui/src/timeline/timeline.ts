import type { Ask, Body, Call, Message, OutcomeReason, ToolUseRef } from "@assent/protocol";

/** An ask at its position in the timeline. */
export interface Step {
  readonly message: Message;
  readonly ask: Ask;
  /** Another step shows the model's answer: its review. */
  readonly reviewed: boolean;
  /** What a model was told about a call that was not made. */
  readonly told: string | undefined;
}

/** A message of the conversation, with its asks. */
export interface Entry {
  /** Notices that count the same thing form one entry: at the first message, with the text of the newest. */
  readonly message: Message;
  /** The asks that a call caused, in order; or an ask without a loaded call, with the reviews of its answer. */
  readonly steps: readonly Step[];
  /** The model's calls that an ask shows. The model's message does not repeat them. */
  readonly asked: readonly string[];
  /** The lost call that can be made again. */
  readonly lostCall: Call | undefined;
}

/** The history of a task, in order. */
export interface Timeline {
  readonly entries: readonly Entry[];
  /** For messages without their own entry: by id, the id of the message that has the entry. */
  readonly within: ReadonlyMap<number, number>;
}

const nothing: Timeline = { entries: [], within: new Map() };

/**
 * Builds the timeline of messages in ascending order of id. Older ones may be missing. Unchanged entries stay the same
 * objects, so that their rows do not render again.
 */
export function timelineOf(messages: readonly Message[], before: Timeline = nothing): Timeline {
  const index = indexOf(messages);
  const within = new Map<number, number>();
  const steps = new Map<number, Step[]>();
  for (const message of messages) {
    if (message.body.type !== "ask") continue;
    const owner = ownerOf(message.id, message.body, index);
    if (owner !== message.id) within.set(message.id, owner);
    const step = stepOf(message, message.body, index);
    const others = steps.get(owner);
    if (others === undefined) steps.set(owner, [step]);
    else others.push(step);
  }
  const counted = countedIn(messages, within);
  const known = new Map(before.entries.map((entry) => [entry.message.id, entry]));
  const entries = messages.flatMap((each) => {
    if (within.has(each.id)) return [];
    const message = counted.get(each.id) ?? each;
    const own = steps.get(message.id) ?? [];
    return [
      kept(known.get(message.id), {
        message,
        steps: own,
        asked: index.asked.get(message.id) ?? [],
        lostCall: lostCall(message.body, own),
      }),
    ];
  });
  return { entries, within };
}

/**
 * Groups notices that count refused questions by server and cause. Returns the messages that stand for several, by the
 * id of the first. A count that does not rise comes from a restarted sidecar, and is separate.
 */
function countedIn(
  messages: readonly Message[],
  within: Map<number, number>,
): ReadonlyMap<number, Message> {
  const counted = new Map<number, Message>();
  const last = new Map<string, { readonly first: Message; readonly count: number }>();
  for (const message of messages) {
    const { body } = message;
    if (body.type !== "notice" || body.refused === undefined) continue;
    const { serverName, setting, count } = body.refused;
    const key = JSON.stringify([serverName, setting]);
    const before = last.get(key);
    const goesOn = before !== undefined && count > before.count;
    const first = goesOn ? before.first : message;
    last.set(key, { first, count });
    if (!goesOn) continue;
    within.set(message.id, first.id);
    counted.set(first.id, { ...message, id: first.id, time: first.time });
  }
  return counted;
}

/** An index of all messages, for placing one. */
interface Index {
  readonly bodies: ReadonlyMap<number, Body>;
  /** The messages of calls that a model requested. */
  readonly callOf: ReadonlyMap<string, number>;
  /** The requests with a reviewed answer. */
  readonly reviewed: ReadonlySet<number>;
  readonly asked: ReadonlyMap<number, readonly string[]>;
}

function indexOf(messages: readonly Message[]): Index {
  const bodies = new Map<number, Body>();
  const callOf = new Map<string, number>();
  const reviewed = new Set<number>();
  const asked = new Map<number, string[]>();
  for (const { id, body } of messages) {
    bodies.set(id, body);
    if (body.type === "call" && body.toolUse !== undefined) callOf.set(keyOf(body.toolUse), id);
    if (body.type !== "ask") continue;
    if (body.question.type === "mcp_sampling_review") reviewed.add(body.question.samplingMessageId);
    const use = toolUseOf(body);
    if (use === undefined || body.outcome === undefined) continue;
    const others = asked.get(use.messageId);
    if (others === undefined) asked.set(use.messageId, [use.toolUseId]);
    else others.push(use.toolUseId);
  }
  return { bodies, callOf, reviewed, asked };
}

/** The message with the entry that shows an ask. */
function ownerOf(id: number, { question }: Ask, { bodies, callOf }: Index): number {
  const { messageId } = question;
  if (messageId !== undefined && bodies.get(messageId)?.type === "call") return messageId;
  const use = toolUseOf({ question });
  const call = use === undefined ? undefined : callOf.get(keyOf(use));
  if (call !== undefined) return call;
  if (question.type !== "mcp_sampling_review") return id;
  return bodies.get(question.samplingMessageId)?.type === "ask" ? question.samplingMessageId : id;
}

function stepOf(message: Message, ask: Ask, { bodies, reviewed }: Index): Step {
  const use = toolUseOf(ask);
  const said = use === undefined ? undefined : bodies.get(use.messageId);
  const told =
    said?.type === "model" ? said.toolUses?.find(({ id }) => id === use?.toolUseId) : undefined;
  return { message, ask, reviewed: reviewed.has(message.id), told: told?.error };
}

export function toolUseOf({ question }: Pick<Ask, "question">): ToolUseRef | undefined {
  return question.type === "use_mcp_tool" || question.type === "access_mcp_resource"
    ? question.toolUse
    : undefined;
}

function keyOf({ messageId, toolUseId }: ToolUseRef): string {
  return `${messageId}:${toolUseId}`;
}

/** The outcomes of asks after the loss of their server or sidecar. */
const gone: ReadonlySet<OutcomeReason> = new Set([
  "restarted",
  "serverLost",
  "serverStoppedWaiting",
  "callEnded",
]);

/**
 * Returns the call if its result is unknown. If a model requested the call, the model is asked again instead, unless a
 * question was lost with the call.
 */
function lostCall(body: Body, steps: readonly Step[]): Call | undefined {
  if (body.type !== "call" || body.result?.type !== "lost") return undefined;
  if (body.request.type === "tasks/result") return undefined; // a lost MCP task cannot be followed again
  return body.toolUse === undefined || lostWith(steps).length > 0 ? body : undefined;
}

/** The asks that were lost with their call. */
export function lostWith(steps: readonly Step[]): readonly Ask[] {
  return steps
    .map(({ ask }) => ask)
    .filter(({ outcome }) => outcome !== undefined && gone.has(outcome.reason));
}

/** The earlier entry, if the new one equals it. */
function kept(before: Entry | undefined, entry: Entry): Entry {
  if (before === undefined || !saysTheSame(before.message, entry.message)) return entry;
  const same =
    before.steps.length === entry.steps.length &&
    before.steps.every((step, n) => isSame(step, entry.steps[n])) &&
    before.asked.length === entry.asked.length &&
    before.asked.every((id, n) => id === entry.asked[n]);
  return same ? before : { ...entry, steps: keptSteps(before.steps, entry.steps) };
}

function saysTheSame(a: Message, b: Message): boolean {
  return a === b || (a.body === b.body && a.time === b.time && a.unsaved === b.unsaved);
}

/** The steps; unchanged ones are the same objects. */
function keptSteps(before: readonly Step[], now: readonly Step[]): readonly Step[] {
  const known = new Map(before.map((step) => [step.message.id, step]));
  return now.map((step) => {
    const old = known.get(step.message.id);
    return old !== undefined && isSame(old, step) ? old : step;
  });
}

function isSame(a: Step, b: Step | undefined): boolean {
  return a.message === b?.message && a.reviewed === b.reviewed && a.told === b.told;
}
