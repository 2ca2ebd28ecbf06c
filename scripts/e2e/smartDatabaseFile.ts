import { DatabaseSync } from "node:sqlite";

/** The content of the smart database's file, as another program reads it. */
export function look(file: string) {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const count = (table: string): number =>
      Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"]);
    return {
      users: count("users"),
      trash: count("trash"),
      audit: database.prepare("SELECT * FROM audit").all(),
      intact: database.prepare("PRAGMA integrity_check").get()?.["integrity_check"] === "ok",
    };
  } finally {
    database.close();
  }
}
