// A tool that wants two pages of its own confirmed before it works (URL mode elicitation).
// @ts-check

import { ToolError, textResult } from "../../kit/tool.mjs";
import { codes, RpcError } from "../rpc.mjs";

/**
 * @typedef {import("../rpc.mjs").Json} Json
 * @typedef {import("../confirm.mjs").ConfirmPages} ConfirmPages
 */

/** How long a call with the person's consent waits for the pages before it asks again, in milliseconds. */
const waitMs = 30_000;

/**
 * @param {ConfirmPages} pages
 * @returns {import("./tool.mjs").Tool}
 */
export function openAccount(pages) {
  return {
    name: "open_account",
    description: "Opens an account, once you have confirmed two pages in your browser.",
    taskSupport: "forbidden",
    needs: () => ["url"],
    async before({ args, answers, state, signal }) {
      const refused = Object.values(answers).find((answer) => answer.action !== "accept");
      if (refused !== undefined) {
        return { args: { ...args, refused: String(refused.action) } };
      }
      if (state !== undefined && !pages.has(state)) {
        throw new RpcError(codes.invalidParams, "requestState is none of this server's");
      }
      const visit = state ?? (await pages.open(["Accept the terms.", "Confirm your address."]));
      // The client retries as soon as its person has consented, long before the pages are
      // confirmed: an answer to that would only make it ask again.
      if (Object.keys(answers).length > 0) {
        await pages.confirmed(visit, AbortSignal.any([signal, AbortSignal.timeout(waitMs)]));
        signal.throwIfAborted();
      }
      const left = pages.left(visit);
      if (left.length === 0) return { args };
      /** @type {Record<string, Json>} */
      const requests = {};
      for (const { id, url, message } of left) {
        const params = { mode: "url", message, url, elicitationId: id };
        requests[id] = { method: "elicitation/create", params };
      }
      return { asking: { requests, state: visit } };
    },
    async run(_job, args) {
      if (args["refused"] !== undefined) throw new ToolError(`No account: ${args["refused"]}.`);
      return textResult("The account is open: both pages were confirmed.");
    },
  };
}
