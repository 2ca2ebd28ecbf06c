// The command line.
// @ts-check
import { parseArgs } from "node:util";
import { whole } from "../kit/whole.mjs";

export const usage = `usage: node tasks.mjs [options]

An MCP server for tasks in both shapes: of 2025-11-25, and the extension of 2026-07-28.
It speaks on stdin and stdout, or with --http on loopback.

  --http PORT           serve Streamable HTTP on 127.0.0.1:PORT (0 is any) at /mcp;
                        the first line of stdout is the URL
  --era ERA             legacy, modern or both (default): the revisions to serve
  --store FOLDER        keep each task in a file there, so that it survives this process
  --poll-interval MS    the poll interval to suggest (default 500)
`;

/**
 * @typedef {object} Options
 * @property {number | undefined} port of HTTP; undefined is stdio
 * @property {"legacy" | "modern" | "both"} era
 * @property {string | undefined} store
 * @property {number} pollIntervalMs
 */

/**
 * Throws an Error that describes the problem.
 * @param {readonly string[]} args
 * @returns {Options}
 */
export function parseOptions(args) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      http: { type: "string" },
      era: { type: "string", default: "both" },
      store: { type: "string" },
      "poll-interval": { type: "string", default: "500" },
    },
  });
  const { era } = values;
  if (era !== "legacy" && era !== "modern" && era !== "both") {
    throw new Error(`--era is legacy, modern or both, not ${era}`);
  }
  return {
    port: values.http === undefined ? undefined : whole("--http", values.http, 65_535),
    era,
    store: values.store,
    pollIntervalMs: whole("--poll-interval", values["poll-interval"], 2 ** 31 - 1),
  };
}
