import type { Call, McpElicitation, Message, OutcomeReason } from "@assent/protocol";

/** How an ask ends whose server, or sidecar, went away. */
const gone: ReadonlySet<OutcomeReason> = new Set([
  "restarted",
  "serverLost",
  "serverStoppedWaiting",
]);

/**
 * The call that an ask was lost with, where the message is such an ask: nobody waits for its answer, and
 * what the call would have returned nobody knows. Only the same call, made anew, leads there again.
 */
export function lostCallOf({ body }: Message, messages: readonly Message[]): Call | undefined {
  if (body.type !== "ask" || body.outcome === undefined || !gone.has(body.outcome.reason)) {
    return undefined;
  }
  const { messageId } = body.question;
  const call = messages.find(({ id }) => id === messageId)?.body;
  if (call?.type !== "call" || call.result?.type !== "lost") return undefined;
  // An MCP task that is lost cannot be followed again.
  return call.request.type === "tasks/result" ? undefined : call;
}

/** More of a form than anybody needs to tell it from another of the same server. */
const longestKey = 1000;

/** Names what was typed into a form, for when the same form comes again in the task. */
export function typedBeforeKey(taskId: string, question: McpElicitation): string {
  const { serverName, elicitationRequest } = question;
  const { message, fields = [] } = elicitationRequest;
  const names = fields.map(({ type, name }) => [type, name]);
  return `again:${JSON.stringify([taskId, serverName, names, message]).slice(0, longestKey)}`;
}
