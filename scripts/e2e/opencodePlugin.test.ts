import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../tools/lib/paths.ts";

/** An event of opencode, as its plugins hear it. */
interface Event {
  readonly type: string;
  readonly properties?: unknown;
}

interface Hooks {
  event(input: { event: Event }): Promise<void>;
  dispose(): Promise<void>;
  config(config: { permission?: unknown }): Promise<void>;
}

type Plugin = (input: { client: unknown; directory: string }) => Promise<Hooks>;

let folder = "";
let plugin: Plugin;

/** It writes its lines into a file, and says the text in the metadata of the question. */
const hook = `#!${process.execPath}
const { appendFileSync } = require("node:fs");
const lines = require("node:readline").createInterface({ input: process.stdin });
let log;
lines.on("line", (line) => {
  if (line === '{"type":"config"}') {
    process.stdout.write('{"bash":["*git*push*"]}\\n');
    process.exit(0);
  }
  if (log === undefined) {
    const { metadata = {}, id } = JSON.parse(line).properties;
    log = require("node:path").join(__dirname, id);
    appendFileSync(log, line + "\\n");
    if (metadata.say) process.stdout.write(metadata.say + "\\n");
    if (metadata.leave) process.exit(0);
  } else appendFileSync(log, "told " + line + "\\n");
});
lines.on("close", () => appendFileSync(log, "end\\n"));
`;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "assent-plugin-"));
  await writeFile(join(folder, "hook.cjs"), hook);
  await chmod(join(folder, "hook.cjs"), 0o755);
  plugin = await pluginWith(join(folder, "hook.cjs"));
});
afterAll(() => rm(folder, { recursive: true }));

async function pluginWith(program: string): Promise<Plugin> {
  const text = await readFile(join(root, "sidecar", "setup", "opencode.js"), "utf8");
  const file = join(folder, `${program.length}.mjs`);
  await writeFile(file, text.replace('"PROGRAM"', JSON.stringify(program)));
  return ((await import(pathToFileURL(file).href)) as { Assent: Plugin }).Assent;
}

let ids = 0;

/** An opencode with one question, which it gives to its plugin. */
class Opencode {
  readonly id = `${++ids}`;
  /** The answers, as URL and body. */
  readonly told: [string, unknown][] = [];
  /** Whether it takes an answer. */
  takes = true;
  /** What happens before it reads an answer. */
  before = async (): Promise<void> => undefined;
  #hooks: Hooks | undefined;

  async start(made = plugin): Promise<void> {
    const sessions: Record<string, object> = { sub: { parentID: "main" }, main: {} };
    const part = { callID: "call", tool: "bash", state: { status: "running", input: { n: 1 } } };
    this.#hooks = await made({
      directory: folder,
      client: {
        session: {
          get: async ({ path: { id } }: { path: { id: string } }) => ({ data: sessions[id] }),
          message: async () => ({ data: { info: { agent: "general" }, parts: [part] } }),
        },
        _client: {
          post: async ({ url, body }: { url: string; body: unknown }) => {
            await this.before();
            this.told.push([url, body]);
            return { response: { ok: this.takes } };
          },
        },
      },
    });
  }

  /** Its permissions, with those of the plugin. */
  async permissions(permission: unknown): Promise<unknown> {
    const config = { permission };
    await this.#hooks?.config(config);
    return config.permission;
  }

  async asks(metadata: object, more: object = {}, type = "permission.asked"): Promise<void> {
    const tool = { messageID: "message", callID: "call" };
    await this.says(type, { id: this.id, sessionID: "sub", metadata, tool, ...more });
  }

  async says(type: string, properties?: unknown): Promise<void> {
    await this.#hooks?.event({ event: { type, properties } });
  }

  async ends(): Promise<void> {
    await this.#hooks?.dispose();
  }

  /** What the hook wrote down: the frame, and what became of it. */
  async log(): Promise<readonly string[]> {
    const text = await readFile(join(folder, this.id), "utf8").catch(() => "");
    return text.split("\n").slice(0, -1);
  }

  /** Waits until the hook has written down so many lines, and returns them without the first. */
  async became(...expected: readonly string[]): Promise<void> {
    await expect.poll(async () => (await this.log()).slice(1)).toEqual(expected);
  }

  async asked(): Promise<void> {
    await expect.poll(() => this.log()).toHaveLength(1);
  }
}

async function opencode(made?: Plugin): Promise<Opencode> {
  const one = new Opencode();
  await one.start(made);
  return one;
}

describe("opencode's plugin", () => {
  test.each([
    ["a yes", { reply: "once" }, { reply: "once" }],
    ["a yes for ever", { reply: "always" }, { reply: "always" }],
    ["a no with words", { reply: "reject", message: "no" }, { reply: "reject", message: "no" }],
  ])("gives opencode %s of the person", async (_, said, body) => {
    const one = await opencode();
    one.before = () => one.says("permission.replied", { requestID: one.id, reply: said.reply });
    await one.asks({ say: JSON.stringify(said) });
    await one.became("told taken", "end");
    expect(one.told).toEqual([[`/permission/${one.id}/reply`, body]]);
  });

  test.each([
    ["answers", { answers: [["Blue"]] }, "reply", { answers: [["Blue"]] }],
    ["a refusal", { reply: "reject" }, "reject", {}],
  ])("gives opencode %s to questions", async (_, said, way, body) => {
    const one = await opencode();
    await one.asks({ say: JSON.stringify(said) }, {}, "question.asked");
    await one.became("told taken", "end");
    expect(one.told).toEqual([[`/question/${one.id}/${way}`, body]]);
  });

  test("says what is asked, whole, and by whom", async () => {
    const command = "touch \u202e\u0000\ud800; ".repeat(1 << 16);
    const one = await opencode();
    await one.asks({ command });
    await one.asked();
    const [frame = ""] = await one.log();
    expect(JSON.parse(frame)).toMatchObject({
      ...{ type: "permission.asked", folder, root: "main", agent: "general", tool: "bash" },
      ...{ input: { n: 1 }, properties: { id: one.id, metadata: { command } } },
    });
    await one.ends();
    await one.became("end");
  });

  test.each([
    ["permission.replied", { reply: "once" }, "once"],
    ["permission.replied", { reply: "reject" }, "reject"],
    ["question.replied", { answers: [["Blue"]] }, "answered"],
    ["question.rejected", {}, "reject"],
  ])("says how opencode was answered in its terminal: %s", async (type, more, told) => {
    const one = await opencode();
    await one.asks({});
    await one.asked();
    await one.says(type, { requestID: "another", sessionID: "sub", ...more });
    await one.says("session.idle", { sessionID: "main" });
    const part = { sessionID: "sub", callID: "call", state: { status: "running" } };
    await one.says("message.part.updated", { part });
    await one.says("session.updated", { info: { id: "sub" } });
    await one.says(type, { requestID: one.id, sessionID: "sub", ...more });
    await one.became(`told ${told}`, "end");
    expect(one.told).toEqual([]);
  });

  test("says that the terminal was first, if both answered", async () => {
    const one = await opencode();
    one.takes = false;
    one.before = () => one.says("permission.replied", { requestID: one.id, reply: "reject" });
    await one.asks({ say: '{"reply":"once"}' });
    await one.became("told reject", "end");
  });

  test.each([
    [
      "message.part.updated",
      { part: { sessionID: "sub", callID: "call", state: { status: "error" } } },
    ],
    ["session.idle", { sessionID: "sub" }],
    ["session.deleted", { info: { id: "sub" } }],
  ])("ends a question that is no longer asked: %s", async (type, properties) => {
    const one = await opencode();
    await one.asks({});
    await one.asked();
    await one.says(type, properties);
    await one.became("end");
    expect(one.told).toEqual([]);
  });

  test.each([
    ["garbage", "allow"],
    ["half a decision", '{"reply":"once"'],
    ["an answer that opencode did not offer", '{"reply":"for ever"}'],
    ["an answer to a question", '{"answers":[["Blue"]]}'],
    ["nothing of a decision", "null"],
  ])("gives opencode no answer after %s", async (_, say) => {
    const one = await opencode();
    await one.asks({ say });
    await one.became("end");
    expect(one.told).toEqual([]);
  });

  test("leaves it to the terminal if opencode does not take the answer, or the hook leaves", async () => {
    const one = await opencode();
    one.before = () => Promise.reject(new Error("no connection"));
    await one.asks({ say: '{"reply":"once"}' });
    await one.became("end");
    const other = await opencode();
    await other.asks({ leave: true });
    const again = async () => {
      await other.asks({ say: '{"reply":"once"}' }); // once the hook has left, it is asked again
      return other.told.length;
    };
    await expect.poll(again).toBe(1);
  });

  const asks = { "*git*push*": "ask" };
  test.each([
    ["nothing", undefined, { bash: asks }],
    ["all is allowed", "allow", { "*": "allow", bash: asks }],
    ["commands are allowed", { bash: "allow", edit: "deny" }, { bash: asks, edit: "deny" }],
    ["some are allowed", { bash: { "ls *": "allow" } }, { bash: { "ls *": "allow", ...asks } }],
    ["it is allowed", { bash: { "*git*push*": "allow" } }, { bash: asks }],
    ["it is forbidden", { bash: { "*git*push*": "deny" } }, { bash: { "*git*push*": "deny" } }],
    ["all is asked", "ask", "ask"],
    ["all is forbidden", { "*": "deny" }, { "*": "deny" }],
    ["commands are forbidden", { bash: "deny" }, { bash: "deny" }],
  ])("adds the person's rules where %s", async (_, before, after) => {
    const one = await opencode();
    expect(await one.permissions(before)).toEqual(after);
  });

  test("puts the person's rules before what is forbidden, since the last match counts", async () => {
    const one = await opencode();
    const bash = { "*": "allow", "git push -f*": "deny", "git *": "allow" };
    const after = (await one.permissions({ bash })) as { bash: object };
    expect(Object.entries(after.bash)).toEqual([
      ["*", "allow"],
      ["*git*push*", "ask"],
      ["git push -f*", "deny"],
      ["git *", "allow"],
    ]);
    const without = await opencode(await pluginWith(join(folder, "no such")));
    expect(await without.permissions({ bash })).toEqual({ bash });
  });

  test("asks a question once, and nothing if it is over before its hook starts", async () => {
    const one = await opencode();
    await Promise.all([one.asks({}), one.asks({})]);
    await one.asked();
    const early = await opencode();
    const asking = early.asks({ say: '{"reply":"once"}' });
    await early.says("permission.replied", { requestID: early.id, reply: "once" });
    await asking;
    await one.says("permission.replied", { requestID: one.id, reply: "once" });
    await one.became("told once", "end");
    expect([await early.log(), early.told]).toEqual([[], []]);
  });

  test("survives events of other shapes, and a program that is not there", async () => {
    const one = await opencode(await pluginWith(join(folder, "no such program")));
    for (const type of [
      "permission.asked",
      "permission.replied",
      "message.part.updated",
      "session.deleted",
    ]) {
      await one.says(type);
      await one.says(type, {});
    }
    await one.asks({});
    await one.says("permission.replied", { requestID: one.id, reply: "once" });
    await one.ends();
    expect(one.told).toEqual([]);
  });
});
