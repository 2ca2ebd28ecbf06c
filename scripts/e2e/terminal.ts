// The smart database from a terminal, with the real program: a model cleans up the table while one file answers what
// is asked; that is recorded, replayed, and compared with a server that asks in other words.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { output } from "../tools/lib/command.ts";
import { root, sidecarBinary } from "../tools/lib/paths.ts";
import { assertNoneLeft } from "./processes.ts";
import { look } from "./smartDatabaseFile.ts";
import { step } from "./step.ts";

const prompt = "Clean up the users table: delete the inactive users";
const tool = "delete_inactive_users";
const answers = `answers:
  - match: { kind: tool }
    approve: true
    times: 0
  - match: { kind: completion, tool: ${tool} }
    approve: true # by the demo model
    times: 0
  - match: { kind: form, tool: ${tool}, schema: [confirm, reason] }
    answer: { confirm: true, reason: the yearly clean-up, keep_backup: true }
`;

const folder = await mkdtemp(join(tmpdir(), "assent-terminal-"));
const scripts = join(root, "scripts", "testservers");
// Everything that is started here inherits it, and is found by it.
const environment = { ASSENT_TEST_FOLDER: folder, ASSENT_DAEMON_DIR: join(folder, "daemon") };
let databases = 0;

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** The database that the server had to itself. */
  readonly file: string;
}

/** Runs the program to its end, with an empty stdin and a server with a new database. */
async function assent(args: readonly string[], era: string, home = scripts): Promise<Ended> {
  databases += 1;
  const file = join(folder, `users-${databases}.db`);
  const server = [join(home, "smart-database.mjs"), "--database", file, "--era", era];
  const child = spawn(sidecarBinary, [...args, "--", process.execPath, ...server], {
    cwd: folder,
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 120_000,
  });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, "close"),
  ]);
  return { code, stdout, stderr, file };
}

/** The server, with another word in the question that it asks the person. */
async function otherServer(): Promise<string> {
  const home = join(folder, "other");
  for (const part of ["smart-database.mjs", "smart-database", "kit", "tasks"]) {
    await cp(join(scripts, part), join(home, part), { recursive: true });
  }
  const file = join(home, "smart-database", "confirm.mjs");
  const before = await readFile(file, "utf8");
  const after = before.replace("message: `Delete ", "message: `Remove ");
  assert.notEqual(after, before);
  await writeFile(file, after);
  return home;
}

function assertCleanedUp({ code, stdout, stderr, file }: Ended): void {
  assert.equal(code, 0, stderr);
  assert.match(stdout, /Deleted 30 users/);
  const { users, trash, audit, intact } = look(file);
  assert.deepEqual([users, trash, audit.length, intact], [170, 30, 1, true]);
  assert.match(String(audit[0]?.["note"]), /the yearly clean-up/);
}

function assertUntouched({ file }: Ended): void {
  assert.deepEqual(look(file), { users: 200, trash: 0, audit: [], intact: true });
}

try {
  await writeFile(join(folder, "story.yaml"), answers);
  const other = await otherServer();
  for (const era of ["2025-11-25", "2026-07-28"]) {
    const recording = `${era}.yaml`;
    const replay = ["chat", prompt, "--answers", recording];
    await step(`${era}: one file of answers, and 170 users are left`, async () => {
      const record = ["--answers", "story.yaml", "--record", recording];
      assertCleanedUp(await assent(["chat", prompt, ...record], era));
    });
    await step(`${era}: the recording does it again`, async () => {
      assertCleanedUp(await assent(replay, era));
    });
    await step(`${era}: a server that asks in other words is caught`, async () => {
      const ended = await assent(replay, era, other);
      assert.equal(ended.code, 5, ended.stderr);
      assert.match(ended.stderr, /^-\s+Delete 30 users of 200.*\n\+\s+Remove 30 users of 200/m);
      assertUntouched(ended);
    });
    await step(`${era}: the tool alone, recorded and replayed`, async () => {
      const call = ["call", tool, "--answers", "story.yaml", "--record", `call-${recording}`];
      assertCleanedUp(await assent(call, era));
      assertCleanedUp(await assent(["call", tool, "--answers", `call-${recording}`], era));
    });
    await step(`${era}: with nobody there, nothing is deleted`, async () => {
      const ended = await assent(["call", tool], era);
      // The server also learns that no person can be asked. The newest revision has an error code for it.
      assert.equal(ended.code, era === "2026-07-28" ? 4 : 3, ended.stderr);
      assert.match(
        ended.stderr,
        /asks its client for .*, which it does not|There is no person to answer/,
      );
      assertUntouched(ended);
    });
  }
} finally {
  await output(sidecarBinary, ["daemon", "stop"], { env: environment });
  await assertNoneLeft(`ASSENT_TEST_FOLDER=${folder}`);
  await rm(folder, { recursive: true, force: true });
}
