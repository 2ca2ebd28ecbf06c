// All tools, and what both revisions do alike before they call one.
// @ts-check
import { openAccount } from "./tools/account.mjs";
import { conformanceTools } from "./tools/conformance.mjs";
import { planJourney } from "./tools/journey.mjs";
import { misbehave } from "./tools/misbehave.mjs";
import { simpleTools } from "./tools/simple.mjs";

/**
 * @typedef {import("./rpc.mjs").Json} Json
 * @typedef {import("./tools/tool.mjs").Tool} Tool
 */

/**
 * @param {import("./confirm.mjs").ConfirmPages} pages
 * @returns {Map<string, Tool>}
 */
export function allTools(pages) {
  const account = openAccount(pages);
  const tools = [planJourney, ...simpleTools, account, misbehave, ...conformanceTools];
  return new Map(tools.map((tool) => [tool.name, tool]));
}

/**
 * A tool as tools/list shows it in both revisions.
 * @param {Tool} tool
 */
export function describe(tool) {
  return {
    name: tool.name,
    ...(tool.title !== undefined && { title: tool.title }),
    description: tool.description,
    inputSchema: {
      type: "object",
      properties: tool.properties ?? {},
      ...(tool.required !== undefined && { required: tool.required }),
    },
    ...(tool.outputSchema !== undefined && { outputSchema: tool.outputSchema }),
    ...(tool.annotations !== undefined && { annotations: tool.annotations }),
  };
}
