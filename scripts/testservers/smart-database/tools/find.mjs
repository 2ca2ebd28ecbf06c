// The tools that only read.
// @ts-check
import { integer } from "../../kit/tool.mjs";
import { entries, mostEntries } from "../audit.mjs";
import { find, plan } from "../users.mjs";
import { days, daysOf, table, told } from "./tool.mjs";

/**
 * @typedef {import("../../tasks/tools/tool.mjs").Tool} Tool
 * @typedef {import("../database.mjs").Database} Database
 */

const readOnly = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };
const counts = {
  inactive_for_days: { type: "integer" },
  inactive_since: { type: "string", description: "ISO 8601" },
  inactive: { type: "integer" },
  total: { type: "integer" },
};

/**
 * @param {Database} database
 * @returns {Tool}
 */
export function countInactiveUsers(database) {
  return {
    name: "count_inactive_users",
    title: "Count inactive users",
    description:
      "Counts the users who have not logged in for a number of days. Changes nothing: call it before delete_inactive_users.",
    taskSupport: "forbidden",
    properties: { inactive_for_days: days },
    outputSchema: {
      type: "object",
      properties: { ...counts, inactive_with_orders: { type: "integer" } },
      required: [...Object.keys(counts), "inactive_with_orders"],
    },
    annotations: readOnly,
    async run(_job, args) {
      const { days, since, count, total, withOrders } = plan(database, daysOf(args));
      return told(
        `${count} of ${total} users have not logged in for ${days} days; ${withOrders} of them have orders.`,
        {
          inactive_for_days: days,
          inactive_since: since,
          inactive: count,
          total,
          inactive_with_orders: withOrders,
        },
      );
    },
  };
}

const user = {
  id: { type: "integer" },
  name: { type: "string" },
  email: { type: "string" },
  status: { type: "string", enum: ["active", "suspended"] },
  orders: { type: "integer" },
  created: { type: "string" },
  last_login: { type: "string" },
};

/**
 * @param {Database} database
 * @returns {Tool}
 */
export function findInactiveUsers(database) {
  return {
    name: "find_inactive_users",
    title: "Find inactive users",
    description:
      "Lists users who have not logged in for a number of days, those first who were away the longest. Changes nothing.",
    taskSupport: "forbidden",
    properties: {
      inactive_for_days: days,
      limit: { type: "integer", title: "At most", minimum: 1, maximum: 100, default: 10 },
    },
    outputSchema: {
      type: "object",
      properties: {
        ...counts,
        users: {
          type: "array",
          items: { type: "object", properties: user, required: Object.keys(user) },
        },
      },
      required: [...Object.keys(counts), "users"],
    },
    annotations: readOnly,
    async run(_job, args) {
      const { days, since, count, total } = plan(database, daysOf(args));
      const users = find(database, since, Math.max(1, integer(args, "limit", 10, 100)));
      const shown = users.map((user) => ({
        ...user,
        created: user["created"].slice(0, 10),
        last_login: user["last_login"].slice(0, 10),
      }));
      return told(
        `${count} of ${total} users have not logged in for ${days} days.\n\n${table(shown)}`,
        { inactive_for_days: days, inactive_since: since, inactive: count, total, users },
      );
    },
  };
}

/**
 * @param {Database} database
 * @returns {Tool}
 */
export function listAudit(database) {
  return {
    name: "list_audit",
    title: "List the audit entries",
    description: `Lists the last ${mostEntries} deletions: when, how many, who confirmed them and why, and whether they were undone.`,
    taskSupport: "forbidden",
    outputSchema: {
      type: "object",
      properties: { entries: { type: "array", items: { type: "object" } } },
      required: ["entries"],
    },
    annotations: readOnly,
    async run() {
      const all = entries(database);
      const shown = all.map((entry) => ({
        audit_id: entry["audit_id"],
        at: entry["at"],
        deleted: entry["deleted"],
        risk: entry["risk"],
        reason: entry["reason"],
        undone: entry["undone_at"] ?? "no",
        note: entry["note"],
      }));
      return told(all.length === 0 ? "Nothing was ever deleted." : table(shown), { entries: all });
    },
  };
}
