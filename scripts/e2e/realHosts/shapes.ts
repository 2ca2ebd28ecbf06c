import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { text as all } from "node:stream/consumers";
import { promisify, stripVTControlCharacters } from "node:util";
import { root } from "../../tools/lib/paths.ts";
import { onStage, type Stage } from "../stage.ts";
import {
  claudeCode,
  codex,
  copilotCli,
  copilotProgram,
  geminiCli,
  geminiSettings,
  opencode,
  opencodeSettings,
  qwenLists,
} from "./hosts.ts";
import { assent, throughDaemon, write } from "./journey.ts";

const recorder = join(root, "scripts", "e2e", "realHosts", "recorder.mjs");

/** What entries are made of. */
interface Parts {
  /** Starts a server that writes down how it was started. */
  readonly start: { readonly command: string; readonly args: readonly string[] };
  readonly env: Readonly<Record<string, string>>;
  /** A folder, and a server over HTTP. */
  readonly folder: string;
  readonly url: string;
}

/** A host with servers in the shapes that people have. */
export interface Shapes {
  readonly title: string;
  readonly list: () => readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Its configuration file, below its home folder. */
  readonly file: string;
  /** The entries by their names. "set" is the host's way to write the variable SET. */
  entries(parts: (name: string) => Parts): Readonly<Record<string, object>>;
  text(entries: Readonly<Record<string, object>>): string;
  /** Those that setup leaves alone. */
  readonly alone: readonly string[];
  /** To list its servers, the host starts them. */
  readonly starts: boolean;
  /** The host itself changes its file as it runs. */
  readonly rewrites?: true;
}

/** A part of the entries that the hosts write as Claude Desktop does. */
function usual(parts: (name: string) => Parts, set: string): Record<string, object> {
  const local = (name: string, more: object = {}) => ({
    ...parts(name).start,
    env: { ...parts(name).env, V: set },
    ...more,
  });
  return {
    plain: parts("plain").start,
    env: local("env"),
    "dots.and spaces": local("dots.and spaces"),
    time: local("time", { timeout: 120_000 }),
  };
}

/** Gemini CLI has them, and Qwen Code, which is made of it. */
function ofGemini(parts: (name: string) => Parts): Record<string, object> {
  const headers = { "X-A": "a", "X-B": "$SET" };
  return {
    ...usual(parts, "$SET"),
    folder: { ...parts("folder").start, cwd: parts("folder").folder },
    tools: {
      ...parts("tools").start,
      ...{ trust: true, description: "d", includeTools: ["nothing"], excludeTools: ["other"] },
    },
    http: { httpUrl: parts("http").url, headers },
    signedOff: { httpUrl: parts("signedOff").url, oauth: { enabled: false } },
    googles: { httpUrl: parts("googles").url, authProviderType: "dynamic_discovery" },
  };
}

const ofCodex: Shapes = {
  ...{ title: codex.title, list: codex.list ?? (() => []), env: {}, file: codex.file },
  entries: (parts) => ({
    plain: parts("plain").start,
    env: { ...parts("env").start, env: parts("env").env, env_vars: ["SET"] },
    folder: { ...parts("folder").start, cwd: parts("folder").folder },
    "dots.and spaces": { ...parts("dots").start, name: "Dots" },
    tools: {
      ...{ ...parts("tools").start, enabled_tools: ["nothing"], disabled_tools: ["other"] },
      ...{ default_tools_approval_mode: "prompt", omit_tools_from: ["deferred"] },
      tools: { nothing: { approval_mode: "approve" } },
    },
    time: { ...parts("time").start, startup_timeout_sec: 20, tool_timeout_sec: 30.5 },
    ready: { ...parts("ready").start, startup_readiness: "catalog", required: false },
    off: { ...parts("off").start, enabled: false },
    http: {
      ...{ url: parts("http").url, http_headers: { "X-A": "a" }, bearer_token_env_var: "SET" },
      env_http_headers: { "X-B": "SET" },
    },
    login: {
      ...{ url: parts("login").url, scopes: ["a"] },
      oauth: { client_id: "c", client_secret: "s", callback_port: 8123 },
    },
    resource: { url: parts("resource").url, oauth_resource: "https://example.org/" },
    helper: { url: parts("helper").url, http_headers_helper: "true" },
    unknown: { ...parts("unknown").start, unknown: 1 },
  }),
  text: (entries) =>
    Object.entries(entries)
      .map(([name, entry]) =>
        [`[mcp_servers.${JSON.stringify(name)}]`, ...members(entry)].join("\n"),
      )
      .join("\n\n"),
  alone: ["resource", "helper", "unknown"],
  starts: false,
};

const shapesOfGemini: Shapes = {
  ...{ title: geminiCli.title, list: geminiCli.list ?? (() => []), file: geminiCli.file },
  env: { GEMINI_API_KEY: "x" },
  entries: ofGemini,
  text: (mcpServers) => JSON.stringify({ ...geminiSettings, mcpServers }, null, 2),
  alone: ["googles"],
  starts: true,
};

const ofQwen: Shapes = {
  ...qwenLists,
  entries: (parts) => ({
    ...ofGemini(parts),
    modern: {
      ...parts("modern").start,
      ...{ versionNegotiation: "legacy", alwaysLoadTools: true, discoveryTimeoutMs: 20_000 },
    },
    unknown: { ...parts("unknown").start, unknown: 1 },
  }),
  text: shapesOfGemini.text,
  alone: ["googles", "unknown"],
  starts: true,
};

const ofOpencode: Shapes = {
  ...{ title: opencode.title, list: opencode.list ?? (() => []), file: opencode.file },
  env: { OPENCODE_DISABLE_MODELS_FETCH: "1", npm_config_offline: "true" },
  entries: (parts) => {
    const timeout = 120_000;
    const local = (name: string, more: object = {}) => {
      const { command, args } = parts(name).start;
      return { type: "local", command: [command, ...args], timeout, ...more };
    };
    const remote = (name: string, more: object) => ({
      ...{ type: "remote", url: parts(name).url, timeout },
      ...more,
    });
    return {
      plain: local("plain"),
      env: local("env", { environment: { ...parts("env").env, V: "{env:SET}" } }),
      folder: local("folder", { cwd: parts("folder").folder }),
      "dots.and spaces": local("dots.and spaces"),
      off: local("off", { enabled: false }),
      http: remote("http", {
        ...{ oauth: false, enabled: true },
        headers: { "X-A": "a", "X-B": "{env:SET}" },
      }),
      login: remote("login", { oauth: { clientId: "c", scope: "a b" } }),
      port: remote("port", { oauth: { callbackPort: 8123 } }),
    };
  },
  text: (mcp) => JSON.stringify({ ...opencodeSettings, mcp }),
  alone: ["port"],
  starts: true,
};

const ofClaude: Shapes = {
  ...{ title: claudeCode.title, list: claudeCode.list ?? (() => []), file: claudeCode.file },
  env: { ANTHROPIC_API_KEY: "x", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" },
  entries: (parts) => ({
    ...usual(parts, `\${SET}`),
    loaded: { type: "stdio", ...parts("loaded").start, alwaysLoad: true },
    http: {
      ...{ type: "http", url: parts("http").url, displayName: "H" },
      headers: { "X-A": "a", "X-B": `\${SET}`, "X-C": `\${NOT:-c}` },
    },
    login: {
      ...{ type: "streamable-http", url: parts("login").url },
      oauth: { clientId: "c", callbackPort: 8123, scopes: "a b" },
    },
    helper: { type: "http", url: parts("helper").url, headersHelper: "echo '{}'" },
    denied: {
      ...{ type: "http", url: parts("denied").url },
      tools: [{ name: "nothing", permission_policy: "always_deny" }],
    },
    unknown: { ...parts("unknown").start, unknown: 1 },
  }),
  text: (mcpServers) => JSON.stringify({ hasCompletedOnboarding: true, mcpServers }),
  alone: ["helper", "denied", "unknown"],
  starts: true,
  rewrites: true,
};

const ofCopilot: Shapes = {
  ...{ title: copilotCli.title, file: copilotCli.file, starts: false },
  list: () => [...copilotProgram, "mcp", "list"],
  env: {
    COPILOT_PROVIDER_BASE_URL: "http://127.0.0.1:9/v1",
    COPILOT_PROVIDER_API_KEY: "x",
    COPILOT_MODEL: "scripted",
    COPILOT_OFFLINE: "true",
  },
  entries: (parts) => ({
    ...usual(parts, "$SET"),
    local: {
      ...{ type: "local", ...parts("local").start, cwd: parts("local").folder },
      ...{ tools: ["nothing"], deferTools: "never", displayName: "L" },
      filterMapping: { nothing: "hidden_characters" },
    },
    http: {
      ...{ type: "http", url: parts("http").url, tools: ["*"] },
      headers: { "X-A": "a", "X-B": "$SET" },
    },
    login: {
      ...{ type: "http", url: parts("login").url, tools: ["*"], oauthClientId: "c" },
      ...{ oauthScopes: ["a"], oauthPublicClient: true, oauthGrantType: "authorization_code" },
    },
    machine: {
      ...{ type: "http", url: parts("machine").url, tools: ["*"], oauthClientId: "c" },
      oauthGrantType: "client_credentials",
    },
    unknown: { ...parts("unknown").start, unknown: 1 },
  }),
  text: (mcpServers) => JSON.stringify({ mcpServers }, null, 2),
  alone: ["machine", "unknown"],
};

/** Those with open licences. */
export const openShapes: readonly Shapes[] = [ofCodex, shapesOfGemini, ofOpencode, ofQwen];

/** Those whose licences a person has to accept. */
export const licensedShapes: readonly Shapes[] = [ofClaude, ofCopilot];

/** How hosts tell of an entry that they cannot use. */
const complaint = /error|invalid|fail|skipped|unrecognized|disconnected/i;

/**
 * The host lists all servers without an error, by itself, through Assent, and by itself again. If it starts them, each gets the
 * same through Assent.
 */
export async function shapesAreListed(host: Shapes): Promise<void> {
  await onStage("assent-shapes-", async (stage) => {
    const web = await startWeb();
    stage.atEnd(web.stop);
    const frontEnd = await stage.frontEnd("the test of shapes", "data", {
      servers: {},
      model: { provider: "demo" },
    });
    return { frontEnd, play: () => compared(stage, host, web) };
  });
}

async function compared(empty: Stage, host: Shapes, web: Web): Promise<void> {
  const stage = { ...empty, environment: { ...empty.environment, SET: "is-set" } };
  const folder = join(stage.folder, "workspace");
  await mkdir(folder);
  const record = (name: string) => join(stage.folder, `${name}.jsonl`);
  const entries = host.entries((name) => ({
    start: { command: process.execPath, args: [recorder, record(name), name] },
    env: { ASSENT_TEST_FOLDER: stage.folder },
    folder,
    url: `${web.url}/${name}`,
  }));
  const names = Object.keys(entries);
  const file = join(stage.home, host.file);
  const before = host.text(entries);
  await write(file, before);
  const lists = async (when: string) => {
    for (const name of names) await rm(record(name), { force: true });
    web.headers.clear();
    const [command = "", ...args] = host.list();
    const { stdout, stderr } = await promisify(execFile)(command, args, {
      cwd: folder,
      // Nothing of this process's own.
      env: {
        PATH: [dirname(process.execPath), "/usr/bin", "/bin"].join(":"),
        ...stage.environment,
        ...host.env,
      },
      timeout: 180_000,
    });
    const said = stripVTControlCharacters(`${stdout}\n${stderr}`);
    for (const name of names)
      assert.ok(said.includes(name), `${name} is not listed ${when}: ${said}`);
    assert.doesNotMatch(said, complaint, when);
    const got: Record<string, unknown> = {};
    for (const name of names) {
      const lines = await readFile(record(name), "utf8").catch(() => "");
      got[name] = lines.trim().split("\n").at(-1) || web.headers.get(`/${name}`);
      if (host.starts && name !== "off") assert.ok(got[name], `${name} was not started ${when}`);
    }
    return got;
  };
  const alone = await lists("by itself");
  await assent(stage, "setup", "--yes");
  await throughDaemon(stage);
  const own = await readFile(join(stage.home, ".config", "assent", "mcp.json"), "utf8");
  const moved = Object.keys((JSON.parse(own) as { servers: object }).servers);
  assert.deepEqual(moved.sort(), names.filter((name) => !host.alone.includes(name)).sort());
  const through = await lists("through Assent");
  if (host.starts) assert.deepEqual(through, alone);
  await assent(stage, "restore");
  if (!host.rewrites) assert.equal(await readFile(file, "utf8"), before);
  await lists("by itself again");
}

/** A server over HTTP. */
interface Web {
  readonly url: string;
  /** The headers of the last message to a path. */
  readonly headers: Map<string, string>;
  stop(): Promise<void>;
}

async function startWeb(): Promise<Web> {
  const headers = new Map<string, string>();
  const results: Readonly<Record<string, object>> = {
    initialize: {
      protocolVersion: "2025-06-18",
      capabilities: { tools: {} },
      serverInfo: { name: "web", version: "1.0.0" },
    },
    ping: {},
    "tools/list": { tools: [{ name: "nothing", inputSchema: { type: "object" } }] },
  };
  const server = createServer(async (request, response) => {
    const text = await all(request);
    if (request.method !== "POST") {
      response.writeHead(405).end();
      return;
    }
    const own = Object.entries(request.headers).filter(([name]) => name.startsWith("x-"));
    headers.set(request.url ?? "", JSON.stringify(own.sort()));
    const { id, method } = JSON.parse(text) as { id?: unknown; method: string };
    if (id === undefined) {
      response.writeHead(202).end();
      return;
    }
    const result = results[method];
    const error = { code: -32601, message: `unknown method ${method}` };
    const answer = { jsonrpc: "2.0", id, ...(result === undefined ? { error } : { result }) };
    response.setHeader("Content-Type", "application/json").end(JSON.stringify(answer));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    headers,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

/** The members of an entry in TOML. JSON's strings, numbers and lists are also TOML's. */
function members(entry: object): string[] {
  return Object.entries(entry).map(([name, value]) => `${JSON.stringify(name)} = ${inline(value)}`);
}

function inline(value: unknown): string {
  const isTable = typeof value === "object" && value !== null && !Array.isArray(value);
  return isTable ? `{ ${members(value).join(", ")} }` : JSON.stringify(value);
}
