import type { McpElicitation } from "@assent/protocol";

/** More of a form than anybody needs to tell it from another of the same server. */
const longestKey = 1000;

/** Names what was typed into a form, for when the same form comes again in the task. */
export function typedBeforeKey(taskId: string, question: McpElicitation): string {
  const { serverName, elicitationRequest } = question;
  const { message, fields = [] } = elicitationRequest;
  const names = fields.map(({ type, name }) => [type, name]);
  return `again:${JSON.stringify([taskId, serverName, names, message]).slice(0, longestKey)}`;
}
