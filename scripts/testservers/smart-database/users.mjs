// The inactive users: counted, found, deleted, and brought back.
// @ts-check
import { createHash } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { ToolError } from "../kit/tool.mjs";

/**
 * @typedef {import("../kit/rpc.mjs").Json} Json
 * @typedef {import("./database.mjs").Database} Database
 * @typedef {import("node:sqlite").DatabaseSync} DatabaseSync
 *
 * The users that a deletion is about, as they were counted.
 * @typedef {object} Plan
 * @property {number} days without a login
 * @property {string} since ISO 8601: who logged in last before is inactive
 * @property {number} count of inactive users
 * @property {number} total of all users
 * @property {number} withOrders inactive users who have bought something
 * @property {Json[]} examples the inactive ones that were away the longest
 * @property {string} digest of who they are
 *
 * What the person and the model said of it.
 * @typedef {object} Decision
 * @property {string} operation names the deletion: the same one is never made twice
 * @property {Plan} plan
 * @property {{level: string, reason: string}} risk
 * @property {string} reason
 * @property {boolean} backup
 * @property {{text: string, by: string}} note
 *
 * @typedef {object} Deletion
 * @property {number} auditId
 * @property {number} deleted
 * @property {boolean} backup
 * @property {string} note
 */

const dayMs = 24 * 60 * 60 * 1000;
/** Rows that are deleted before others have a turn. */
const batchRows = 500;
/** SQL of what trash and users have in common. */
const columns = "id, name, email, status, orders, created, last_login";

/** What a deletion throws when its users are no longer those that were confirmed. */
export class Changed extends Error {
  /** @param {number} now how many they are */
  constructor(now) {
    super("the inactive users have changed");
    this.now = now;
  }
}

/**
 * @param {Database} database
 * @param {number} days
 * @returns {Plan}
 */
export function plan(database, days) {
  const since = new Date(Date.now() - days * dayMs).toISOString();
  const ids = database.all("SELECT id FROM users WHERE last_login < ? ORDER BY id", since);
  const counts = database.get(
    `SELECT count(*) AS total, count(*) FILTER (WHERE last_login < ? AND orders > 0) AS withOrders
     FROM users`,
    since,
  );
  return {
    days,
    since,
    count: ids.length,
    total: Number(counts?.["total"]),
    withOrders: Number(counts?.["withOrders"]),
    examples: find(database, since, 3),
    digest: digestOf(ids),
  };
}

/**
 * Inactive users, those first who were away the longest.
 * @param {Database} database
 * @param {string} since
 * @param {number} limit
 */
export function find(database, since, limit) {
  const sql = `SELECT ${columns} FROM users WHERE last_login < ? ORDER BY last_login, id LIMIT ?`;
  return database.all(sql, since, limit).map((row) => ({ ...row }));
}

/**
 * Deletes exactly the confirmed users and writes the audit entry, in one transaction. Throws Changed if the users have
 * changed since.
 * @param {Database} database
 * @param {Decision} decision
 * @param {object} pace
 * @param {number} pace.paceMs between two batches
 * @param {AbortSignal} pace.signal nothing is deleted once it aborts
 * @param {(done: number) => void} pace.progressed
 * @returns {Promise<Deletion>}
 */
export async function remove(database, decision, { paceMs, signal, progressed }) {
  const { operation, plan, risk, reason, backup, note } = decision;
  return await database.transaction(async (connection) => {
    const rows = /** @type {{id: number}[]} */ (
      connection.prepare("SELECT id FROM users WHERE last_login < ? ORDER BY id").all(plan.since)
    );
    if (digestOf(rows) !== plan.digest) throw new Changed(rows.length);
    const { lastInsertRowid } = connection
      .prepare(
        `INSERT INTO audit (operation, at, inactive_for_days, inactive_since, deleted, risk,
           risk_reason, reason, backup, note, note_by) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(
        operation,
        new Date().toISOString(),
        plan.days,
        plan.since,
        rows.length,
        risk.level,
        risk.reason,
        reason,
        backup ? 1 : 0,
        note.text,
        note.by,
      );
    const auditId = Number(lastInsertRowid);
    const among = "id IN (SELECT value FROM json_each(?))";
    const keep = connection.prepare(
      `INSERT INTO trash SELECT ?, ${columns} FROM users WHERE ${among}`,
    );
    const drop = connection.prepare(`DELETE FROM users WHERE ${among}`);
    for (let at = 0; at < rows.length; at += batchRows) {
      // Other work gets a turn, including a cancellation.
      if (at > 0) await sleep(paceMs, undefined, { signal });
      const ids = JSON.stringify(rows.slice(at, at + batchRows).map(({ id }) => id));
      if (backup) keep.run(auditId, ids);
      drop.run(ids);
      progressed(Math.min(at + batchRows, rows.length));
    }
    return { auditId, deleted: rows.length, backup, note: note.text };
  });
}

/**
 * The deletion of that name, if it was made: the answer to it may have been lost.
 * @param {Database} database
 * @param {string} operation
 * @returns {Deletion | undefined}
 */
export function made(database, operation) {
  const row = database.get("SELECT * FROM audit WHERE operation = ?", operation);
  if (row === undefined) return undefined;
  const { id: auditId, deleted, backup, note } = row;
  return { auditId, deleted, backup: backup === 1, note };
}

/**
 * Brings the users of a deletion back, all or none.
 * @param {Database} database
 * @param {number} auditId
 */
export async function undo(database, auditId) {
  return await database.transaction(async (connection) => {
    const entry = /** @type {Json | undefined} */ (
      connection.prepare("SELECT * FROM audit WHERE id = ?").get(auditId)
    );
    if (entry === undefined) throw new ToolError(`There is no audit entry ${auditId}.`);
    if (entry["undone_at"] !== null) {
      throw new ToolError(`Deletion ${auditId} was undone already, at ${entry["undone_at"]}.`);
    }
    if (entry["backup"] !== 1) {
      throw new ToolError(`Deletion ${auditId} kept no backup: its users cannot be brought back.`);
    }
    const taken = /** @type {Json | undefined} */ (
      connection
        .prepare(
          `SELECT trash.name FROM trash JOIN users ON users.id = trash.id OR users.email = trash.email
           WHERE audit_id = ? LIMIT 1`,
        )
        .get(auditId)
    );
    if (taken !== undefined) {
      throw new ToolError(
        `Nobody was brought back: the number or address of ${taken["name"]} is taken again.`,
      );
    }
    const { changes } = connection
      .prepare(`INSERT INTO users SELECT ${columns} FROM trash WHERE audit_id = ?`)
      .run(auditId);
    connection.prepare("DELETE FROM trash WHERE audit_id = ?").run(auditId);
    const now = new Date().toISOString();
    connection.prepare("UPDATE audit SET undone_at = ? WHERE id = ?").run(now, auditId);
    return Number(changes);
  });
}

/** @param {readonly Json[]} rows with ids, in their order */
function digestOf(rows) {
  const hash = createHash("sha256");
  for (const { id } of rows) hash.update(`${id}\n`);
  return hash.digest("base64url");
}
