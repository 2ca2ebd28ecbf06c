// The audit entries, as tools and resources show them.
// @ts-check

/**
 * @typedef {import("../kit/rpc.mjs").Json} Json
 * @typedef {import("./database.mjs").Database} Database
 */

/** Entries that a list shows, the newest ones. */
export const mostEntries = 50;

/** @param {Database} database */
export function entries(database) {
  return database.all("SELECT * FROM audit ORDER BY id DESC LIMIT ?", mostEntries).map(entry);
}

/**
 * @param {Database} database
 * @param {number} id
 */
export function entryOf(database, id) {
  const row = database.get("SELECT * FROM audit WHERE id = ?", id);
  return row && entry(row);
}

/**
 * @param {Json} row
 * @returns {Json}
 */
function entry({ id: audit_id, operation: _, backup, ...rest }) {
  return { audit_id, ...rest, backup: backup === 1 };
}
