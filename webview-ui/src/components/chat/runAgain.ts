import type { Body, Call, McpElicitation, Message, OutcomeReason } from "@assent/protocol";

/** How an ask ends whose server, or sidecar, went away. */
const gone: ReadonlySet<OutcomeReason> = new Set([
  "restarted",
  "takenOver",
  "serverLost",
  "serverStoppedWaiting",
  "callEnded",
]);

/**
 * The call that is offered to be made again beside a message: a lost one, of which nobody knows what it
 * would have returned, beside the ask that was lost with it, or else beside itself.
 */
export function lostCallOf(message: Message, messages: readonly Message[]): Call | undefined {
  const { body } = message;
  if (body.type === "call") {
    const beside = ({ body }: Message) => lostWith(body) === message.id;
    // A model that wanted the call is asked again instead.
    const own = body.toolUse === undefined && isLost(body);
    return own && !messages.some(beside) ? body : undefined;
  }
  const lost = lostWith(body);
  const call = lost === undefined ? undefined : messages.find(({ id }) => id === lost)?.body;
  return call?.type === "call" && isLost(call) ? call : undefined;
}

/** The message of the call that an ask belongs to which nobody waits for any more. */
function lostWith(body: Body): number | undefined {
  if (body.type !== "ask" || body.outcome === undefined) return undefined;
  return gone.has(body.outcome.reason) ? body.question.messageId : undefined;
}

function isLost({ request, result }: Call): boolean {
  // An MCP task that is lost cannot be followed again.
  return result?.type === "lost" && request.type !== "tasks/result";
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
