import type { McpElicitation } from "@assent/protocol";

/** The longest key in characters: enough to tell a form from others of the same server. */
const longestKey = 1000;

/** Returns the key of a form's draft, the same when the form comes again in the task. */
export function typedBeforeKey(taskId: string, question: McpElicitation): string {
  const { serverName, elicitationRequest } = question;
  const { message, fields = [] } = elicitationRequest;
  const names = fields.map(({ type, name }) => [type, name]);
  return `again:${JSON.stringify([taskId, serverName, names, message]).slice(0, longestKey)}`;
}
