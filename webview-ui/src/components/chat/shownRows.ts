import type { Ask, Body, Message, ToolUseRef } from "@assent/protocol";

/** What of a conversation is drawn, and what stands for the rest. */
export interface ShownRows {
  /** The messages that have rows, in their order. */
  readonly messages: readonly Message[];
  /** How many messages left the conversation for one, by its id. */
  readonly replaced: ReadonlyMap<number, number>;
  /** Those of them that left the conversation, by id. */
  readonly left: ReadonlySet<number>;
  /** What the person was asked about a call, by the id of the call's message. */
  readonly approvals: ReadonlyMap<number, Ask>;
}

/**
 * Decides which messages have rows. Two kinds have none. The first are messages that another message replaced, unless
 * that one is opened. The second are settled questions about a model's call: the call shows them, or the model's
 * message if there was no call. Open questions and the person's own acts are always shown.
 */
export function shownRows(
  messages: readonly Message[],
  isOpened: (messageId: number) => boolean,
): ShownRows {
  const folds = messages.flatMap(({ id, body }) => {
    const from = replacedBy(body);
    return from === undefined || from >= id ? [] : [{ id, from, isOpen: isOpened(id) }];
  });
  const told = new Map<string, number | undefined>();
  const asked = new Map<string, Ask>();
  const ofModels = new Set<number>();
  for (const { id, body } of messages) {
    if (body.type === "call" && body.toolUse !== undefined) {
      told.set(keyOf(body.toolUse), id);
      ofModels.add(id);
    } else if (body.type === "model") {
      for (const use of body.toolUses ?? []) {
        if (use.error === undefined) continue;
        told.set(keyOf({ messageId: id, toolUseId: use.id }), undefined);
      }
    } else if (body.type === "ask") {
      const use = toolUseOf(body);
      if (use !== undefined && body.outcome !== undefined) asked.set(keyOf(use), body);
    }
  }

  const approvals = new Map<number, Ask>();
  for (const [key, ask] of asked) {
    const call = told.get(key);
    if (call !== undefined) approvals.set(call, ask);
  }
  const left = new Set<number>();
  const replaced = new Map(folds.map(({ id }) => [id, 0]));
  const shown = messages.filter(({ id, body }) => {
    if (body.type === "ask" && body.outcome !== undefined) {
      const use = toolUseOf(body);
      // A standing refusal has its own row, because the row leads to where it is changed.
      const refused = body.outcome.standing === "never";
      if (use !== undefined && told.has(keyOf(use)) && !refused) return false;
    }
    if (folds.length === 0 || !mayLeave(body, ofModels)) return true;
    const around = folds.filter((fold) => fold.from <= id && id < fold.id);
    for (const fold of around) replaced.set(fold.id, (replaced.get(fold.id) ?? 0) + 1);
    if (around.length > 0) left.add(id);
    return around.every(({ isOpen }) => isOpen);
  });
  // A list that nothing is missing in stays the same one.
  return {
    messages: shown.length === messages.length ? messages : shown,
    replaced,
    left,
    approvals,
  };
}

/** The message for which a message that has no row left the conversation, the one to open first. */
export function foldOf(messages: readonly Message[], messageId: number): number | undefined {
  return messages.findLast(({ id, body }) => {
    const from = replacedBy(body);
    return from !== undefined && from <= messageId && messageId < id;
  })?.id;
}

function replacedBy(body: Body): number | undefined {
  return body.type === "user" || body.type === "model" ? body.replaces : undefined;
}

function toolUseOf({ question }: Ask): ToolUseRef | undefined {
  return question.type === "use_mcp_tool" || question.type === "access_mcp_resource"
    ? question.toolUse
    : undefined;
}

/** Says whether a message is of the conversation with the model, and over. */
function mayLeave(body: Body, ofModels: ReadonlySet<number>): boolean {
  switch (body.type) {
    case "user":
    case "model":
      return true;
    case "call":
      return body.toolUse !== undefined && body.result !== undefined;
    case "ask": {
      const { messageId = 0 } = body.question;
      return (
        body.outcome !== undefined && (toolUseOf(body) !== undefined || ofModels.has(messageId))
      );
    }
    default:
      return false;
  }
}

function keyOf({ messageId, toolUseId }: ToolUseRef): string {
  return `${messageId}:${toolUseId}`;
}
