import { installed, licensedHosts, openHosts } from "./install.ts";

/** How an MCP server is started. */
export interface Server {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** The configuration of a host. */
export interface Told {
  /** Where the model is. */
  readonly model: string;
  /** The MCP server that it starts. */
  readonly server: Server & { readonly name: string };
  readonly prompt: string;
}

/**
 * A third-party MCP host, run without a person at its terminal and configured to contact no other machine.
 */
export interface Host {
  /** How Assent names it. */
  readonly title: string;
  command(told: Told): readonly string[];
  /** Lists its servers. A host without it has to read them for its conversation alone. */
  readonly list?: () => readonly string[];
  /** In its environment. */
  env(told: Told): Readonly<Record<string, string>>;
  /** Its configuration file, below its home folder. */
  readonly file: string;
  configuration(told: Told): string;
  /** The host itself changes its file as it runs. */
  readonly rewrites?: true;
}

/** How long a host waits for a server's tools. On a busy machine, the usual 5 and 10 s are too short. */
const startSeconds = 120;

const codexProgram = [
  process.execPath,
  installed(openHosts, "@openai", "codex", "bin", "codex.js"),
];
const geminiProgram = [
  process.execPath,
  installed(openHosts, "@google", "gemini-cli", "bundle", "gemini.js"),
];
const qwenProgram = [process.execPath, installed(openHosts, "@qwen-code", "qwen-code", "cli.js")];
const opencodeProgram = [installed(openHosts, "opencode-linux-x64-baseline", "bin", "opencode")];
const claudeProgram = [
  installed(licensedHosts, "@anthropic-ai", "claude-code-linux-x64", "claude"),
];
export const copilotProgram = [installed(licensedHosts, "@github", "copilot-linux-x64", "copilot")];

export const codex: Host = {
  title: "Codex",
  command: ({ prompt }) => [...codexProgram, "exec", "--skip-git-repo-check", prompt],
  list: () => [...codexProgram, "mcp", "list"],
  env: () => ({}),
  file: ".codex/config.toml",
  configuration: ({ model, server }) => {
    // JSON's strings and lists are also TOML's. Codex waits a second for the tools of a server that is not required.
    const env = Object.entries(server.env).map(([name, value]) => `${name} = ${toml(value)}`);
    return `
model = "scripted"
model_provider = "loopback"
check_for_update_on_startup = false
analytics.enabled = false
features.plugins = false
features.shell_snapshot = false

[model_providers.loopback]
name = "loopback"
base_url = ${toml(`${model}/v1`)}
wire_api = "responses"

[mcp_servers.${server.name}]
command = ${toml(server.command)}
args = ${toml(server.args)}
default_tools_approval_mode = "approve"
required = true
startup_timeout_sec = ${startSeconds}

[mcp_servers.${server.name}.env]
${env.join("\n")}
`;
  },
};

/** What Gemini CLI and Qwen Code do not do of themselves. */
const quiet = {
  general: { enableAutoUpdate: false },
  privacy: { usageStatisticsEnabled: false },
};

export const geminiSettings = {
  security: { auth: { selectedType: "gemini-api-key" }, folderTrust: { enabled: false } },
  ...quiet,
};

export const geminiCli: Host = {
  title: "Gemini CLI",
  command: ({ prompt }) => [...geminiProgram, "-m", "gemini-2.5-flash", "-p", prompt],
  list: () => [...geminiProgram, "mcp", "list"],
  env: ({ model }) => ({ GEMINI_API_KEY: "x", GOOGLE_GEMINI_BASE_URL: model }),
  file: ".gemini/settings.json",
  configuration: ({ server: { name, ...server } }) =>
    JSON.stringify({
      ...geminiSettings,
      mcpServers: { [name]: { ...server, trust: true } },
    }),
};

export const opencodeSettings = {
  // opencode adds it to a file without it.
  $schema: "https://opencode.ai/config.json",
  autoupdate: false,
  share: "disabled",
};

export const opencode: Host = {
  title: "opencode",
  command: ({ prompt }) => [...opencodeProgram, "run", prompt],
  list: () => [...opencodeProgram, "mcp", "list"],
  // It would fetch a list of models, and packages for plugins.
  env: () => ({ OPENCODE_DISABLE_MODELS_FETCH: "1", npm_config_offline: "true" }),
  file: ".config/opencode/opencode.json",
  configuration: ({ model, server: { name, command, args, env } }) =>
    JSON.stringify({
      ...opencodeSettings,
      model: "loopback/scripted",
      provider: {
        loopback: {
          npm: "@ai-sdk/openai-compatible",
          options: { baseURL: `${model}/v1`, apiKey: "x" },
          models: { scripted: {} },
        },
      },
      mcp: {
        [name]: {
          type: "local",
          command: [command, ...args],
          environment: env,
          timeout: startSeconds * 1000,
        },
      },
    }),
};

export const claudeCode: Host = {
  title: "Claude Code",
  command: ({ prompt, server }) => [
    ...claudeProgram,
    "-p",
    prompt,
    "--allowedTools",
    `mcp__${server.name}__*`,
  ],
  list: () => [...claudeProgram, "mcp", "list"],
  env: ({ model }) => ({
    ANTHROPIC_BASE_URL: model,
    ANTHROPIC_API_KEY: "x",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    ENABLE_TOOL_SEARCH: "false",
    MCP_TIMEOUT: String(startSeconds * 1000),
  }),
  file: ".claude.json",
  configuration: ({ server: { name, ...server } }) =>
    JSON.stringify({ hasCompletedOnboarding: true, mcpServers: { [name]: server } }),
  rewrites: true,
};

export const copilotCli: Host = {
  title: "Copilot CLI",
  command: ({ prompt }) => [...copilotProgram, "--allow-all-tools", "-p", prompt],
  list: () => [...copilotProgram, "mcp", "get", "journeys"],
  env: ({ model }) => ({
    COPILOT_PROVIDER_BASE_URL: `${model}/v1`,
    COPILOT_PROVIDER_API_KEY: "x",
    COPILOT_MODEL: "scripted",
    COPILOT_OFFLINE: "true",
  }),
  file: ".copilot/mcp-config.json",
  configuration: ({ server: { name, ...server } }) =>
    JSON.stringify({ mcpServers: { [name]: { type: "local", ...server, tools: ["*"] } } }),
};

/** A host that starts its servers to list them. */
export interface Lister {
  readonly title: string;
  /** Its name on Assent's command line. */
  readonly id: string;
  list(): readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Its configuration file, below its home folder. */
  readonly file: string;
  configuration(servers: Readonly<Record<string, Server>>): string;
  /** The host itself changes its file as it runs. */
  readonly rewrites?: true;
}

const geminiLists: Lister = {
  title: "Gemini CLI",
  id: "gemini-cli",
  list: () => geminiCli.list?.() ?? [],
  env: { GEMINI_API_KEY: "x" },
  file: geminiCli.file,
  configuration: (mcpServers) =>
    JSON.stringify({
      ...geminiSettings,
      mcpServers,
    }),
};

export const qwenLists: Lister = {
  title: "Qwen Code",
  id: "qwen-code",
  list: () => [...qwenProgram, "mcp", "list"],
  env: {},
  file: ".qwen/settings.json",
  configuration: (mcpServers) =>
    JSON.stringify({
      ...quiet,
      mcpServers,
    }),
  rewrites: true,
};

const opencodeLists: Lister = {
  title: "opencode",
  id: "opencode",
  list: () => opencode.list?.() ?? [],
  env: { OPENCODE_DISABLE_MODELS_FETCH: "1", npm_config_offline: "true" },
  file: opencode.file,
  configuration: (servers) =>
    JSON.stringify({
      ...opencodeSettings,
      mcp: Object.fromEntries(
        Object.entries(servers).map(([name, { command, args, env }]) => [
          name,
          { type: "local", command: [command, ...args], environment: env },
        ]),
      ),
    }),
};

const claudeLists: Lister = {
  title: "Claude Code",
  id: "claude-code",
  list: () => claudeCode.list?.() ?? [],
  env: { ANTHROPIC_API_KEY: "x", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" },
  file: claudeCode.file,
  configuration: (mcpServers) => JSON.stringify({ hasCompletedOnboarding: true, mcpServers }),
  rewrites: true,
};

/** A host that starts its servers, and obeys a file of its organisation. The servers are "shop" and "github". */
export interface Governed {
  readonly title: string;
  /** Starts the servers, and ends. It waits for those that are expected to start. */
  list(expected: readonly string[]): readonly string[];
  env(model: string): Readonly<Record<string, string>>;
  /** Its configuration file, below its home folder. */
  readonly file: string;
  configuration(servers: Readonly<Record<string, Server>>, model: string): string;
  /** The host itself changes its file as it runs. */
  readonly rewrites?: true;
  /** The organisation's file. One that begins with "~" is the person's own. */
  readonly place: string;
  /** Its text that leaves "shop" alone, by what starts the two. */
  policy(servers: Readonly<Record<string, Server>>): string;
  /**
   * What holds once the entries start Assent. The text is by its program, and is that of {@link policy} if there is none.
   * Then the listed servers may start all the same. Where the host compares names, the entry of "github" gets a new one.
   */
  late(program: string): {
    readonly text?: string;
    readonly starts: readonly string[];
    readonly renames: boolean;
  };
}

const namesDenied = JSON.stringify({ mcp: { excluded: ["github"] } });

/** A host that compares names. */
function governed(host: Lister, place: string, policy: string): Governed {
  return {
    ...host,
    env: () => host.env,
    place,
    policy: () => policy,
    late: () => ({ starts: ["shop"], renames: true }),
  };
}

const codexGoverned: Governed = {
  title: "Codex",
  list: (expected) => [
    ...codexProgram,
    ...expected.flatMap((name) => ["-c", `mcp_servers.${name}.required=true`]),
    "exec",
    "--skip-git-repo-check",
    "List your tools",
  ],
  env: () => ({}),
  file: codex.file,
  configuration: (servers, model) =>
    Object.entries(servers)
      .map(([name, server], index) => {
        const text = codex.configuration({ model, server: { name, ...server }, prompt: "" });
        // The first part, about the model, is needed once.
        return (index === 0 ? text : text.slice(text.indexOf("[mcp_servers."))).replace(
          "required = true\n",
          "",
        );
      })
      .join("\n"),
  place: "/etc/codex/requirements.toml",
  policy: () => `[mcp_servers.shop.identity]\ncommand = ${toml(process.execPath)}\n`,
  // Codex compares no arguments here, so that it starts Assent for both. Assent compares the servers.
  late: (program) => ({
    text: ["shop", "github"]
      .map((name) => `[mcp_servers.${name}.identity]\ncommand = ${toml(program)}\n`)
      .join(""),
    starts: [],
    renames: false,
  }),
};

/** To list its servers, it starts also those that are denied, so that it has to start a conversation. */
const qwenGoverned: Governed = {
  ...governed(qwenLists, "/etc/qwen-code/settings.json", namesDenied),
  list: () => [...qwenProgram, "--auth-type", "openai", "List your tools"],
  env: (model) => ({
    OPENAI_BASE_URL: `${model}/v1`,
    OPENAI_API_KEY: "x",
    OPENAI_MODEL: "scripted",
  }),
};

/** Those with open licences that an organisation limits. */
export const openGoverned: readonly Governed[] = [
  codexGoverned,
  governed(geminiLists, "/etc/gemini-cli/settings.json", namesDenied),
  qwenGoverned,
];

/** A host that compares whole commands, of which one is in a list. */
function listed(
  host: Governed,
  what: string,
  list: string,
  server: string,
  starts: readonly string[],
): Governed {
  return {
    ...host,
    title: `${host.title}, by ${what}`,
    policy: (servers) =>
      JSON.stringify({ [list]: [{ serverCommand: commandOf(servers, server) }] }),
    late: () => ({ starts, renames: false }),
  };
}

function commandOf(servers: Readonly<Record<string, Server>>, name: string): readonly string[] {
  const server = servers[name];
  return server === undefined ? [] : [server.command, ...server.args];
}

const nameDenied = JSON.stringify({ deniedMcpServers: [{ serverName: "github" }] });

const claudeGoverned = governed(claudeLists, "/etc/claude-code/managed-settings.json", nameDenied);

const copilotGoverned: Governed = {
  title: "Copilot CLI",
  // To list its servers, it starts none.
  list: () => [...copilotProgram, "--allow-all-tools", "-p", "List your tools"],
  env: (model) => ({
    COPILOT_PROVIDER_BASE_URL: `${model}/v1`,
    COPILOT_PROVIDER_API_KEY: "x",
    COPILOT_MODEL: "scripted",
    COPILOT_OFFLINE: "true",
  }),
  file: copilotCli.file,
  configuration: (servers) =>
    JSON.stringify({
      mcpServers: Object.fromEntries(
        Object.entries(servers).map(([name, server]) => [
          name,
          { type: "local", ...server, tools: ["*"] },
        ]),
      ),
    }),
  place: "/etc/github-copilot/managed-settings.json",
  policy: () => nameDenied,
  late: () => ({ starts: ["shop"], renames: true }),
};

/** Claude Code has no servers but those of this file. After setup, the file itself starts Assent for "shop". */
const exclusive: Governed = {
  ...claudeGoverned,
  title: "Claude Code, by an exclusive set",
  place: "/etc/claude-code/managed-mcp.json",
  policy: ({ shop }) => JSON.stringify({ mcpServers: { shop } }),
  late: (program) => ({
    text: JSON.stringify({
      mcpServers: {
        shop: { command: program, args: ["gateway", "--own", "--host", "claude-code", "shop"] },
      },
    }),
    starts: ["shop"],
    renames: false,
  }),
};

/** What the person denies. It is no organisation's, and lies in the home folder. */
const denied: Governed = {
  ...listed(claudeGoverned, "the person's own denial", "deniedMcpServers", "github", ["shop"]),
  place: "~/.claude/settings.json",
};

/** Those with licences that a person has to accept. By an allow list of commands, the host itself does not start Assent. */
export const licensedGoverned: readonly Governed[] = [
  ...[claudeGoverned, copilotGoverned].flatMap((host) => [
    { ...host, title: `${host.title}, by a denied name` },
    listed(host, "a denied command", "deniedMcpServers", "github", ["shop"]),
    listed(host, "an allowed command", "allowedMcpServers", "shop", []),
  ]),
  exclusive,
  denied,
];

/** Those with open licences. */
export const openListers: readonly Lister[] = [geminiLists, opencodeLists, qwenLists];

/** Those with licences that a person has to accept. */
export const licensedListers: readonly Lister[] = [claudeLists];

/** Hosts with open licences. */
export const open: readonly Host[] = [codex, geminiCli, opencode];

/** Hosts with licences that a person has to accept. */
export const licensed: readonly Host[] = [claudeCode, copilotCli];

function toml(value: string | readonly string[]): string {
  return JSON.stringify(value);
}
