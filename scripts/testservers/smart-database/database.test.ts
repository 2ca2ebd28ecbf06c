// Files as they are found, and two programs on one file.
import { once } from "node:events";
import { open, writeFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, test } from "vitest";
import { start } from "../kit/testing/wires.ts";
import { Database } from "./database.mjs";
import { confirms, look, model, newFolder, program, Talk } from "./testing/talk.ts";

let folder: Awaited<ReturnType<typeof newFolder>>;
const talks: Talk[] = [];

beforeEach(async () => {
  folder = await newFolder();
});
afterEach(async () => {
  for (const talk of talks.splice(0)) await talk.wire.kill();
  await folder.remove();
});

async function connect(...args: readonly string[]): Promise<Talk> {
  const talk = await Talk.open("2025-11-25", ["--database", folder.file, ...args]);
  talks.push(talk);
  return talk;
}

/** What a server says that cannot use its file. */
async function refusal(file = folder.file): Promise<string> {
  const server = start(program, ["--database", file], "pipe");
  server.stdin.end();
  const [said, [code]] = await Promise.all([text(server.stderr), once(server, "exit")]);
  expect(code).toBe(1);
  return said;
}

const players = { model: model(), person: confirms() };

test("new files hold the same users", async () => {
  new Database(folder.file, 200).close();
  const other = `${folder.file}-2`;
  new Database(other, 200).close();
  const people = (file: string) => {
    const database = new DatabaseSync(file, { readOnly: true });
    const rows = database.prepare("SELECT id, name, email, status, orders FROM users").all();
    database.close();
    return rows;
  };
  expect(people(folder.file)).toEqual(people(other));
  expect(people(folder.file)).toHaveLength(200);
  expect(people(folder.file)[3]).toMatchObject({
    name: "Claude Diaz",
    email: "claude.diaz4@example.com",
  });
});

test("a file that was made before stays as it is", async () => {
  const first = await connect();
  await first.call("delete_inactive_users", {}, players);
  await first.wire.kill();
  const second = await connect("--large", "5000");
  expect((await second.call("count_inactive_users")).text).toMatch(/^0 of 170 users/);
});

test("files that are no database of this server are named and left alone", async () => {
  await writeFile(folder.file, "Dear diary, ".repeat(1000));
  expect(await refusal()).toBe(
    `smart-database: ${folder.file} is damaged, or no SQLite database. Move it away, and a new one is made.\n`,
  );
  const foreign = `${folder.file}-foreign`;
  const database = new DatabaseSync(foreign);
  database.exec("CREATE TABLE users (precious TEXT)");
  database.close();
  expect(await refusal(foreign)).toContain("is another program's database: name a new file");
  const newer = `${folder.file}-newer`;
  new Database(newer, 1).close();
  const changed = new DatabaseSync(newer);
  changed.exec("PRAGMA user_version = 2");
  changed.close();
  expect(await refusal(newer)).toContain("was made by another version of this server");
  expect(await refusal(`${folder.file}/nowhere/users.db`)).toContain("see that its folder exists");
  expect(await refusal(folder.folder)).toContain("cannot be opened");
});

test("a file that another program holds is waited for, then named", async () => {
  const talk = await connect();
  const other = new DatabaseSync(folder.file);
  other.exec("BEGIN EXCLUSIVE");
  const counted = await talk.call("count_inactive_users");
  expect(counted.result["isError"]).toBe(true);
  expect(counted.text).toBe(
    `${folder.file} is locked by another program. Nothing was changed: let that end and try again.`,
  );
  expect(await refusal()).toContain("is locked by another program");
  other.exec("ROLLBACK");
  // The lock comes between the confirmation and the deletion.
  const { text, result } = await talk.call(
    "delete_inactive_users",
    {},
    {
      model: model(),
      person(params) {
        other.exec("BEGIN IMMEDIATE");
        return confirms()(params);
      },
    },
  );
  expect(result["isError"]).toBe(true);
  expect(text).toContain("is locked by another program. Nothing was changed");
  other.exec("ROLLBACK");
  other.close();
  expect(look(folder.file)).toMatchObject({ users: 200, trash: 0, audit: [] });
  expect((await talk.call("delete_inactive_users", {}, players)).text).toMatch(/^Deleted 30 users/);
});

test("a file that is damaged while it is served is said to be", async () => {
  const talk = await connect("--large", "2000");
  const file = await open(folder.file, "r+");
  await file.write(Buffer.alloc(100_000, "damage"), 0, 100_000, 0);
  await file.close();
  const { text, result } = await talk.call("count_inactive_users");
  expect(result["isError"]).toBe(true);
  expect(text).toContain("is damaged, or no SQLite database");
});

test("a file that cannot be written is said to be", () => {
  // A test may run as root, whom no mode of a file stops.
  const database = new Database(folder.file, 1);
  const reader = new DatabaseSync(folder.file, { readOnly: true });
  let failed: unknown;
  try {
    reader.exec("DELETE FROM users");
  } catch (error) {
    failed = database.explain(error);
  }
  reader.close();
  database.close();
  expect(String(failed)).toContain("cannot be written. Nothing was changed: allow writing to it.");
});

test("servers that start at once make one new file", async () => {
  const all = await Promise.all(Array.from({ length: 5 }, () => connect("--large", "20000")));
  const counts = await Promise.all(all.map((talk) => talk.call("count_inactive_users")));
  for (const { text } of counts) expect(text).toMatch(/^3000 of 20000 users/);
});

test("a long deletion does not block readers", async () => {
  // More than SQLite's cache holds, so that it would write into the file before the end.
  const database = new Database(folder.file, 60_000);
  await database.transaction(async (connection) => {
    connection.exec("DELETE FROM users WHERE id % 2 = 0");
    expect(look(folder.file).users).toBe(60_000);
  });
  expect(look(folder.file).users).toBe(30_000);
  database.close();
});

test("of two servers that ask at once, the one with the slower person deletes nothing", async () => {
  const [slow, quick] = await Promise.all([connect(), connect()]);
  const { client } = slow;
  const id = client.begin("tools/call", { name: "delete_inactive_users" });
  const answer = async (method: string, result: object) => {
    const { id } = await client.next(method);
    await slow.wire.send({ jsonrpc: "2.0", id, result });
  };
  await answer("sampling/createMessage", model()({ systemPrompt: "" }));
  const form = await client.next("elicitation/create");
  expect((await quick.call("delete_inactive_users", {}, players)).text).toMatch(/^Deleted 30/);
  await slow.wire.send({ jsonrpc: "2.0", id: form["id"], result: confirms()({}) });
  await answer("sampling/createMessage", model()({ systemPrompt: "audit" }));
  const { result } = await client.response(id);
  expect(result.isError).toBe(true);
  expect(result.content[0].text).toContain("by now they are others (0). Nothing was deleted");
  expect(look(folder.file)).toMatchObject({ users: 170, trash: 30, audit: [{ id: 1 }] });
});

test("users are not brought back over others", async () => {
  const talk = await connect();
  await talk.call("delete_inactive_users", {}, players);
  const other = new DatabaseSync(folder.file);
  other.exec(`INSERT INTO users SELECT 9999, name, email, status, orders, created, '2999-01-01'
    FROM trash LIMIT 1`);
  other.close();
  const { text, result } = await talk.call("undo_delete", { audit_id: 1 });
  expect(result["isError"]).toBe(true);
  expect(text).toBe(
    "Nobody was brought back: the number or address of Claude Diaz is taken again.",
  );
  expect(look(folder.file)).toMatchObject({ users: 171, trash: 30, audit: [{ undone_at: null }] });
});
