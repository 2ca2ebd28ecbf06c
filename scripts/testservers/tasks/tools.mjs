// All tools, and what both revisions do alike before they call one.
// @ts-check
import { codes, RpcError } from "./rpc.mjs";
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
 * @param {number} confirmWaitMs
 * @returns {Map<string, Tool>}
 */
export function allTools(pages, confirmWaitMs) {
  const account = openAccount(pages, confirmWaitMs);
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

/**
 * The tool that a tools/call names, and its arguments.
 * @param {ReadonlyMap<string, Tool>} tools
 * @param {Json} params
 */
export function called(tools, params) {
  const tool = tools.get(String(params["name"]));
  if (tool === undefined) throw new RpcError(codes.invalidParams, `no tool ${params["name"]}`);
  /** @type {Json} */
  const args = params["arguments"] ?? {};
  return { tool, args, needs: tool.needs?.(args) ?? [] };
}
