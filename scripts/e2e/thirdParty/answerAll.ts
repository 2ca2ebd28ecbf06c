import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import type { CallResult } from "@assent/protocol";
import { eventually } from "../eventually.ts";
import { FrontEnd, type Shown } from "../frontEnd.ts";
import { freePort, stopGroup } from "../processes.ts";
import { type Asked, type Asker, type AskingTool, askers } from "./askers.ts";
import { type Command, transports } from "./servers.ts";

const words = { ...transports, ws: "WebSocket" } as const;

/** The header of the table. */
export const columns = ["program", "transport", "MCP", "tool", "asked", "answered"];

/** The results of all calls: lines for the table, and a text for each failure. */
export interface Answered {
  readonly lines: readonly (readonly string[])[];
  readonly problems: readonly string[];
}

/** How many servers work at once. Most of the time each waits for its other side. */
const atOnce = 4;

/**
 * Calls every tool that asks, answers its questions and checks its result, with one sidecar and without a browser.
 * The mark, a NAME=value, goes into the environment of every process.
 */
export async function answerAll(mark: string, folder: string): Promise<Answered> {
  const [name = "", value = ""] = mark.split("=");
  const environment = { [name]: value };
  const dataFolder = join(folder, "asking");
  await mkdir(dataFolder);
  const frontEnd = new FrontEnd({
    name: "the test of third-party servers",
    dataFolder,
    environment,
    configuration: {
      workspaceFolders: [{ name: "workspace", path: folder, confirmed: true }],
      model: { provider: "demo" },
      sampling: { review: "never", limits: { requestsPerMinute: 10_000 } },
    },
  });
  const run: Run = { frontEnd, environment, servers: {}, problems: [] };
  const lines = new Map<Asker, Lines>();
  await frontEnd.start();
  try {
    const waiting = [...askers];
    const work = async (): Promise<void> => {
      for (let asker = waiting.shift(); asker !== undefined; asker = waiting.shift()) {
        lines.set(asker, await callAll(run, asker));
      }
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    await frontEnd.stop();
  } catch (error) {
    await frontEnd.kill();
    throw error;
  }
  return { lines: askers.flatMap((asker) => lines.get(asker) ?? []), problems: run.problems };
}

type Lines = readonly (readonly string[])[];

interface Run {
  readonly frontEnd: FrontEnd;
  readonly environment: Readonly<Record<string, string>>;
  /** Those that are configured so far, in the shape of mcp.json. */
  readonly servers: Record<string, unknown>;
  readonly problems: string[];
}

/** Calls the tools of one server, one after the other; returns their lines of the table. */
async function callAll(run: Run, asker: Asker): Promise<Lines> {
  const { frontEnd, problems } = run;
  const { name, program, transport, path } = asker;
  const [port, other] = [await freePort(), await freePort()];
  const command = asker.command(port, other);
  const scheme = transport === "ws" ? "ws" : "http";
  run.servers[name] =
    path === undefined
      ? { type: "stdio", ...command }
      : { type: transport, url: `${scheme}://localhost:${port}${path}` };
  const server = path === undefined ? undefined : start(run, command);
  const lines: (readonly string[])[] = [];
  try {
    if (server !== undefined) await listening(port, server);
    await frontEnd.configure({ servers: run.servers });
    const login = asker.login ? logIn(frontEnd, `http://localhost:${other}/`) : undefined;
    for (const tool of asker.tools) {
      let verdict = "yes";
      try {
        const [again] = await Promise.all([call(frontEnd, asker, tool), login]);
        if (again) verdict = "yes, in a second call";
        const versions = [asker.version, ...(asker.olderIfSlow === true ? ["2025-11-25"] : [])];
        assert.ok(versions.includes(await versionOf(frontEnd, name)), "the version of MCP");
      } catch (error) {
        verdict = "FAIL";
        const reason = error instanceof Error ? error.message : String(error);
        problems.push(`${tool.tool} of ${name}: ${reason}`);
      }
      const kinds = tool.asks.map(({ kind }) => kind).join(", ");
      const asked = kinds || (tool.silent ? "-" : "roots");
      const version = await versionOf(frontEnd, name);
      lines.push([program, words[transport], version, tool.tool, asked, verdict]);
    }
  } finally {
    if (server !== undefined) await stopGroup(server);
  }
  return lines;
}

function start({ environment }: Run, { command, args, env }: Command): ChildProcess {
  return spawn(command, args, {
    env: { ...process.env, ...env, ...environment },
    detached: true,
    stdio: "ignore",
  });
}

/** Waits until a process accepts connections. */
async function listening(port: number, server: ChildProcess): Promise<void> {
  await eventually(`a listener on port ${port}`, async () => {
    if (server.exitCode !== null) throw new Error("the server ended before it listened");
    const socket = connect(port, "localhost");
    try {
      await once(socket, "connect");
      return true;
    } catch {
      return undefined; // it does not listen yet
    } finally {
      socket.destroy();
    }
  });
}

/** Follows a login page's redirects, as the person's browser does. */
async function logIn(frontEnd: FrontEnd, origin: string): Promise<void> {
  const url = await frontEnd.until(`the login at ${origin}`, () =>
    frontEnd.opened.find((each) => each.startsWith(origin)),
  );
  const response = await fetch(url);
  assert.ok(response.ok, `the login ended with status ${response.status}`);
}

/** The version of MCP that is spoken with a server. */
async function versionOf(frontEnd: FrontEnd, serverName: string): Promise<string> {
  const { servers = [] } = await frontEnd.request("server/list", undefined);
  return servers.find(({ name }) => name === serverName)?.protocolVersion ?? "none";
}

/**
 * Calls a tool, and answers its questions. Says whether the call was made once more: a server that accepts the newest
 * version of MCP may have tools that cannot ask in it.
 */
async function call(frontEnd: FrontEnd, asker: Asker, tool: AskingTool): Promise<boolean> {
  const id = await frontEnd.callTool(asker.name, tool.tool, tool.args ?? {});
  // Other servers ask at the same time. Of each, one tool is called at a time.
  const all = (): readonly Shown[] =>
    frontEnd.asksSince(id).filter(({ ask }) => ask.question.serverName === asker.name);
  const asks = (): readonly Shown[] => all().filter((shown) => !isRepeat(shown));
  let agreed = false;
  const comes = async <T>(what: string, look: () => T | undefined): Promise<T> => {
    const seen = await frontEnd.until(`${what} of ${asker.name}'s ${tool.tool}`, () => {
      const value = look();
      if (value !== undefined) return { value };
      const repeat = agreed ? undefined : all().find(isRepeat);
      if (repeat !== undefined) return { repeat };
      const { result } = frontEnd.call(id);
      return result === undefined ? undefined : { result };
    });
    if ("value" in seen) return seen.value;
    if ("result" in seen) assert.fail(`it ended before ${what}: ${JSON.stringify(seen.result)}`);
    agreed = true;
    await frontEnd.respond(seen.repeat, { askResponse: "yesButtonClicked" });
    return await comes(what, look);
  };
  if (tool.task) await comes("the MCP task", () => frontEnd.call(id).task);
  const answered = new Set<number>();
  for (const asked of tool.asks) {
    const shown = await comes(`the ${asked.kind}`, () =>
      asks().find((each) => !answered.has(each.messageId) && isAsked(each, asked)),
    );
    answered.add(shown.messageId);
    await answer(frontEnd, shown, asked);
  }
  const result = await comes("its end", () => frontEnd.call(id).result);
  assert.match(textOf(result), tool.result);
  assert.equal(asks().length, tool.asks.length, "it asked nothing else");
  return agreed;
}

/** Assent asks whether to call again. */
function isRepeat({ ask }: Shown): boolean {
  return ask.question.type === "repeat_mcp_call";
}

function isAsked({ ask: { question } }: Shown, asked: Asked): boolean {
  switch (question.type) {
    case "mcp_elicitation": {
      const { message } = question.elicitationRequest;
      return asked.kind === "form" && message.startsWith(asked.message);
    }
    case "mcp_sampling": {
      const [block] = question.samplingRequest.messages?.at(-1)?.content ?? [];
      const text = block?.type === "text" ? block.text : "";
      return asked.kind === "completion" && text.includes(asked.message);
    }
    case "mcp_url_elicitation":
      return asked.kind === "page" && asked.url.test(question.url);
    default:
      return false;
  }
}

async function answer(frontEnd: FrontEnd, shown: Shown, asked: Asked): Promise<void> {
  const yes = { askResponse: "yesButtonClicked" } as const;
  const no = { askResponse: "noButtonClicked" } as const;
  switch (asked.kind) {
    case "form": {
      const { content } = asked;
      return await frontEnd.respond(
        shown,
        content === undefined ? no : { ...yes, elicitationContent: content },
      );
    }
    case "completion":
      return await frontEnd.respond(shown, yes);
    case "page":
      return asked.open ? await frontEnd.openPage(shown) : await frontEnd.respond(shown, no);
    default:
      return asked satisfies never;
  }
}

/** The texts of a result, or the error in its place. */
function textOf(result: CallResult): string {
  if (result.type !== "result") return JSON.stringify(result);
  const texts = (result.content ?? []).map((block) => (block.type === "text" ? block.text : ""));
  return texts.join("\n");
}
