// The command line.
// @ts-check
import { parseArgs } from "node:util";
import { modernVersion } from "../kit/rpc.mjs";
import { whole } from "../kit/whole.mjs";

/** Revisions with elicitation, which deleting needs. */
const legacyVersions = ["2025-06-18", "2025-11-25"];

export const usage = `usage: node smart-database.mjs --database FILE [options]

An MCP server on a SQLite file of users: finds inactive ones, and deletes them after the model has
said how risky that is and you have confirmed it. It speaks on stdin and stdout, or with --http on
loopback.

  --database FILE   the database; a new file gets a table of users to play with
  --large USERS     how many users a new file gets (default 200); with this option a deletion can
                    be an MCP task
  --era ERA         ${[...legacyVersions, modernVersion].join(", ")}, or both (default):
                    the last two
  --http PORT       serve Streamable HTTP on 127.0.0.1:PORT (0 is any) at /mcp;
                    the first line of stdout is the URL
  --store FOLDER    keep each MCP task in a file there, so that it survives this process
  --pace MS         the pause after each 500 rows of a deletion (default 0, with --large 100)
`;

/**
 * @typedef {object} Options
 * @property {string} database
 * @property {boolean} large
 * @property {number} users of a new file
 * @property {"legacy" | "modern" | "both"} era
 * @property {string} legacyVersion
 * @property {number | undefined} port of HTTP; undefined is stdio
 * @property {string | undefined} store
 * @property {number} paceMs
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
      database: { type: "string" },
      large: { type: "string" },
      era: { type: "string", default: "both" },
      http: { type: "string" },
      store: { type: "string" },
      pace: { type: "string" },
    },
  });
  const { database, large, era, http, pace } = values;
  if (!database) throw new Error("--database FILE is missing: the file may be a new one");
  if (era !== "both" && era !== modernVersion && !legacyVersions.includes(era)) {
    const known = [...legacyVersions, modernVersion, "both"].join(", ");
    throw new Error(`--era is one of ${known}, not ${era}`);
  }
  return {
    database,
    large: large !== undefined,
    users: large === undefined ? 200 : whole("--large", large, 5_000_000),
    era: era === "both" ? "both" : era === modernVersion ? "modern" : "legacy",
    legacyVersion: legacyVersions.includes(era) ? era : "2025-11-25",
    port: http === undefined ? undefined : whole("--http", http, 65_535),
    store: values.store,
    paceMs: pace === undefined ? (large === undefined ? 0 : 100) : whole("--pace", pace, 60_000),
  };
}
