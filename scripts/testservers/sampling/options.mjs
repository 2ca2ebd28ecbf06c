// The command line.
// @ts-check
import { parseArgs } from "node:util";
import { whole } from "../kit/whole.mjs";
import { features, versions } from "./versions.mjs";

export const usage = `usage: node sampling.mjs [options]

An MCP server whose tools ask the client's model (sampling/createMessage).
It speaks on stdin and stdout, or with --http on loopback.

  --era VERSION   the one revision to speak: ${versions.join(", ")}
                  (default 2025-11-25)
  --http PORT     serve Streamable HTTP on 127.0.0.1:PORT (0 is any) at /mcp;
                  the first line of stdout is the URL
`;

/**
 * @typedef {object} Options
 * @property {import("./versions.mjs").Version} version
 * @property {number | undefined} port of HTTP; undefined is stdio
 */

/**
 * Throws an Error that describes the problem.
 * @param {readonly string[]} args
 * @returns {Options}
 */
export function parseOptions(args) {
  const { values } = parseArgs({
    args: [...args],
    options: { http: { type: "string" }, era: { type: "string", default: "2025-11-25" } },
  });
  const version = versions.find((known) => known === values.era);
  if (version === undefined) {
    throw new Error(`--era is one of ${versions.join(", ")}, not ${values.era}`);
  }
  const port = values.http === undefined ? undefined : whole("--http", values.http, 65_535);
  if (port !== undefined && !features(version).streamableHttp) {
    throw new Error(`${version} has no Streamable HTTP: leave out --http`);
  }
  return { version, port };
}
