// A server of raw JSON over stdio that answers from a table.
// @ts-check
import { createInterface } from "node:readline";

/**
 * Serves until the input ends. A method that is not in the table gets an error.
 * @param {Readonly<Record<string, object | ((params: any) => object | Promise<object>)>>} table the result of each
 * method, or what makes it
 * @returns {{ask: (method: string, params: object) => Promise<any>}} how to ask the client something, for the result
 */
export function serveTable(table) {
  /** @type {((result: object) => void)[]} */
  const waiting = [];
  /** @param {object} message */
  const send = (message) =>
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  createInterface({ input: process.stdin }).on("line", async (line) => {
    const { id, method, params = {}, result } = JSON.parse(line);
    if (method === undefined) return waiting[id]?.(result);
    if (id === undefined) return;
    const entry = Object.hasOwn(table, method) ? table[method] : undefined;
    if (entry === undefined) send({ id, error: { code: -32601, message: `no ${method}` } });
    else send({ id, result: typeof entry === "function" ? await entry(params) : entry });
  });
  return {
    ask: (method, params) =>
      new Promise((resolve) => send({ id: waiting.push(resolve) - 1, method, params })),
  };
}
