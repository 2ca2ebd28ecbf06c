// What the server offers besides tools: resources and a prompt.
// @ts-check
import { codes, RpcError } from "../kit/rpc.mjs";
import { entries, entryOf } from "./audit.mjs";
import { schema } from "./database.mjs";

/**
 * @typedef {import("../kit/rpc.mjs").Json} Json
 * @typedef {import("./database.mjs").Database} Database
 */

const schemaURI = "smartdb://schema";
const auditURI = /^smartdb:\/\/audit\/(\d{1,15})$/;

/** Entries change when one is undone, so nothing may be kept (2026-07-28, Caching). */
const fresh = { ttlMs: 0, cacheScope: "private" };

export const capabilities = { resources: {}, prompts: {} };

export const instructions =
  "A table of users in SQLite. To clean it up, call count_inactive_users, then delete_inactive_users: that one asks the person itself, and deletes nothing without their confirmation.";

const cleanUp = {
  name: "clean_up",
  title: "Clean up a table",
  description: "Has the inactive accounts counted and removed.",
  arguments: [{ name: "table", description: "The table; users is the only one.", required: false }],
};

/**
 * The result of a request; undefined for an unknown method.
 * @param {Database} database
 * @param {string} method
 * @param {Json} params
 * @returns {Json | undefined}
 */
export function answer(database, method, params) {
  switch (method) {
    case "resources/list":
      return { resources: resources(database), ...fresh };
    case "resources/templates/list":
      return {
        resourceTemplates: [
          {
            uriTemplate: "smartdb://audit/{id}",
            name: "audit",
            title: "Audit entry",
            description: "What was deleted, why, and who confirmed it.",
            mimeType: "application/json",
          },
        ],
        ...fresh,
      };
    case "resources/read":
      return { contents: [read(database, String(params["uri"]))], ...fresh };
    case "prompts/list":
      return { prompts: [cleanUp], ...fresh };
    case "prompts/get":
      return prompt(params);
    default:
      return undefined;
  }
}

/** @param {Database} database */
function resources(database) {
  return [
    {
      uri: schemaURI,
      name: "schema",
      title: "Schema",
      description: "The tables of the database, in SQL.",
      mimeType: "application/sql",
    },
    ...entries(database).map((entry) => ({
      uri: `smartdb://audit/${entry["audit_id"]}`,
      name: `audit-${entry["audit_id"]}`,
      title: `Audit entry ${entry["audit_id"]}: ${entry["deleted"]} users`,
      mimeType: "application/json",
    })),
  ];
}

/**
 * @param {Database} database
 * @param {string} uri
 */
function read(database, uri) {
  if (uri === schemaURI) return { uri, mimeType: "application/sql", text: schema };
  const [, id] = auditURI.exec(uri) ?? [];
  const entry = id === undefined ? undefined : entryOf(database, Number(id));
  // The code of 2026-07-28; the revisions before had one of their own, -32002.
  if (entry === undefined) throw new RpcError(codes.invalidParams, `no resource ${uri}`, { uri });
  return { uri, mimeType: "application/json", text: JSON.stringify(entry, null, 2) };
}

/** @param {Json} params */
function prompt({ name, arguments: args = {} }) {
  if (name !== cleanUp.name) throw new RpcError(codes.invalidParams, `no prompt ${name}`);
  const { table = "users" } = args;
  if (table !== "users") throw new RpcError(codes.invalidParams, `no table ${table}: it is users`);
  const text = "Clean up the users table: remove all inactive accounts";
  return {
    description: cleanUp.description,
    messages: [{ role: "user", content: { type: "text", text } }],
  };
}
