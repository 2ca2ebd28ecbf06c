// The SQLite file: opens it, creates and fills a new one, and explains SQLite's errors to a person. It uses Node.js's
// own SQLite, which locks files as every other program does. A process that is killed leaves only a journal, from which
// the next one recovers.
// @ts-check
import { randomBytes } from "node:crypto";
import { DatabaseSync } from "node:sqlite";
import { ToolError } from "../kit/tool.mjs";
import { seed } from "./seed.mjs";

/** @typedef {import("../kit/rpc.mjs").Json} Json */

/** "SmDb", which identifies the file's owner; the version is that of the tables. */
const applicationId = 0x536d4462;
const version = 1;

/** Milliseconds to wait for another program's lock. The process is blocked during that. */
const lockTimeoutMs = 1000;
/** The same before anyone is served: another process may be filling a large file. */
const startTimeoutMs = 5000;

/** The tables. Times are ISO 8601 in UTC, so that their order is the order of their texts. */
export const schema = `CREATE TABLE users (
  id         INTEGER PRIMARY KEY,
  name       TEXT NOT NULL,
  email      TEXT NOT NULL UNIQUE,
  status     TEXT NOT NULL CHECK (status IN ('active', 'suspended')),
  orders     INTEGER NOT NULL DEFAULT 0,
  created    TEXT NOT NULL,
  last_login TEXT NOT NULL
);
CREATE INDEX users_by_last_login ON users (last_login);

-- One row for each deletion, written in the transaction that deletes.
CREATE TABLE audit (
  id                INTEGER PRIMARY KEY AUTOINCREMENT,
  operation         TEXT NOT NULL UNIQUE,
  at                TEXT NOT NULL,
  inactive_for_days INTEGER NOT NULL,
  inactive_since    TEXT NOT NULL,
  deleted           INTEGER NOT NULL,
  risk              TEXT NOT NULL,
  risk_reason       TEXT NOT NULL,
  reason            TEXT NOT NULL,
  backup            INTEGER NOT NULL,
  note              TEXT NOT NULL,
  note_by           TEXT NOT NULL,
  undone_at         TEXT
);

-- The deleted users, for undo.
CREATE TABLE trash (
  audit_id   INTEGER NOT NULL REFERENCES audit (id),
  id         INTEGER NOT NULL,
  name       TEXT NOT NULL,
  email      TEXT NOT NULL,
  status     TEXT NOT NULL,
  orders     INTEGER NOT NULL,
  created    TEXT NOT NULL,
  last_login TEXT NOT NULL,
  PRIMARY KEY (audit_id, id)
) WITHOUT ROWID;

CREATE TABLE secrets (name TEXT PRIMARY KEY, value BLOB NOT NULL);`;

/** The file, for one process. Others may use it at the same time. */
export class Database {
  #connection;
  #writing = false;

  /**
   * Throws an Error that names the file and the way out.
   * @param {string} file
   * @param {number} users of a new file
   */
  constructor(file, users) {
    this.file = file;
    this.#connection = this.#guard(() => this.connect());
    try {
      this.#guard(() => this.#prepare(users));
    } catch (error) {
      this.#connection.close();
      throw error;
    }
  }

  /** An additional connection, which the caller closes. Its errors pass through `explain`. */
  connect() {
    const connection = new DatabaseSync(this.file);
    // Deleted rows wait in memory and not in the file, or a long deletion would lock out all readers.
    connection.exec(`PRAGMA busy_timeout = ${lockTimeoutMs}; PRAGMA cache_spill = OFF`);
    return connection;
  }

  /**
   * The rows of a query.
   * @param {string} sql
   * @param {...import("node:sqlite").SQLInputValue} values
   * @returns {Json[]}
   */
  all(sql, ...values) {
    return this.#guard(() => this.#connection.prepare(sql).all(...values));
  }

  /**
   * The row of a query that has at most one.
   * @param {string} sql
   * @param {...import("node:sqlite").SQLInputValue} values
   * @returns {Json | undefined}
   */
  get(sql, ...values) {
    return this.#guard(() => this.#connection.prepare(sql).get(...values));
  }

  /**
   * Does something whole or not at all, on a connection of its own: it may take many turns of the event
   * loop, in which others read. One at a time, as SQLite would have the second one wait and this
   * process with it.
   * @template T
   * @param {(connection: DatabaseSync) => Promise<T>} work
   * @returns {Promise<T>}
   */
  async transaction(work) {
    if (this.#writing) {
      throw new ToolError("Another change is under way. Nothing was changed: try again after it.");
    }
    this.#writing = true;
    /** @type {DatabaseSync | undefined} */
    let connection;
    try {
      connection = this.connect();
      connection.exec("BEGIN IMMEDIATE");
      const result = await work(connection);
      connection.exec("COMMIT");
      return result;
    } catch (error) {
      throw this.explain(error);
    } finally {
      this.#writing = false;
      // It rolls back uncommitted changes.
      connection?.close();
    }
  }

  /** Signs data that passes through a client. It is in the file because it must outlive this process. */
  get stateKey() {
    const row = this.get("SELECT value FROM secrets WHERE name = 'state-key'");
    return /** @type {Uint8Array} */ (row?.["value"]);
  }

  close() {
    this.#connection.close();
  }

  /**
   * What SQLite says, as an error of the tool that a person can do something about; others as they are.
   * @param {unknown} error
   */
  explain(error) {
    if (!(error instanceof Error) || !("errcode" in error)) return error;
    const { file } = this;
    // The lower byte is the primary code (sqlite.org/rescode.html).
    switch (Number(error.errcode) & 0xff) {
      case 5:
      case 6:
        return new ToolError(
          `${file} is locked by another program. Nothing was changed: let that end and try again.`,
        );
      case 8:
        return new ToolError(
          `${file} cannot be written. Nothing was changed: allow writing to it.`,
        );
      case 11:
      case 26:
        return new ToolError(
          `${file} is damaged, or no SQLite database. Move it away, and a new one is made.`,
        );
      case 13:
        return new ToolError(`There is no room for ${file}. Nothing was changed: make some.`);
      case 14:
        return new ToolError(`${file} cannot be opened: see that its folder exists.`);
      default:
        return new ToolError(`${file}: ${error.message}`);
    }
  }

  /**
   * Creates missing tables. If it throws, the connection is closed, which undoes it.
   * @param {number} users
   */
  #prepare(users) {
    const connection = this.#connection;
    connection.exec(`PRAGMA busy_timeout = ${startTimeoutMs}`);
    if (!this.#isOurs()) {
      connection.exec("BEGIN IMMEDIATE");
      // Another process may have made them while this one waited.
      if (!this.#isOurs()) this.#make(users);
      connection.exec("COMMIT");
    }
    connection.exec(`PRAGMA busy_timeout = ${lockTimeoutMs}`);
  }

  /** @param {number} users */
  #make(users) {
    const connection = this.#connection;
    const { n } = /** @type {{n: number}} */ (
      connection.prepare("SELECT count(*) AS n FROM sqlite_schema").get()
    );
    if (n > 0) throw new Error(`${this.file} is another program's database: name a new file`);
    connection.exec(schema);
    seed(connection, users, new Date());
    connection
      .prepare("INSERT INTO secrets VALUES ('state-key', ?)")
      .run(new Uint8Array(randomBytes(32)));
    connection.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version}`);
  }

  #isOurs() {
    const pragma = (/** @type {string} */ name) =>
      Object.values(this.#connection.prepare(`PRAGMA ${name}`).get() ?? {})[0];
    if (pragma("application_id") !== applicationId) return false;
    if (pragma("user_version") !== version) {
      throw new Error(`${this.file} was made by another version of this server: name a new file`);
    }
    return true;
  }

  /**
   * @template T
   * @param {() => T} work
   * @returns {T}
   */
  #guard(work) {
    try {
      return work();
    } catch (error) {
      throw this.explain(error);
    }
  }
}
