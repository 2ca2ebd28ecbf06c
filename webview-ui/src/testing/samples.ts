import type {
  Ask,
  Body,
  Call,
  CallToolRequest,
  Field,
  Grant,
  HostPermission,
  McpElicitation,
  McpSampling,
  McpSamplingRequest,
  McpSamplingReview,
  McpTask,
  McpURLElicitation,
  Message,
  Model,
  OpenAsk,
  Outcome,
  PolicyEntry,
  Server,
  SetupPlan,
  Task,
  Tool,
  UnattributedAsk,
} from "@assent/protocol";

/** Small, complete messages. Each test changes the part that it is about. */

export const at = Date.UTC(2026, 10, 21, 9, 30);

export function task(part: Partial<Task> = {}): Task {
  return { id: "t1", title: "First", createdAt: at, openAsks: 0, lastNumber: 1, ...part };
}

export function message(id: number, body: Body): Message {
  return { id, time: at + id, body };
}

export const stringField: Field = { type: "string", name: "reason", title: "Reason" };

export function elicitation(
  fields: readonly Field[] = [stringField],
  part: Partial<McpElicitation> = {},
): McpElicitation {
  return {
    type: "mcp_elicitation",
    serverName: "database",
    toolNames: ["cleanup"],
    elicitationRequest: { message: "Delete **1,204** rows?", fields },
    ...part,
  };
}

export const demoModel: Model = {
  id: "demo:script",
  name: "Demo (not a language model)",
  provider: "demo",
};
export const otherModel: Model = { id: "openai:gpt", name: "gpt at localhost", provider: "openai" };

export function sampling(part: Partial<McpSampling> = {}): McpSampling {
  return {
    type: "mcp_sampling",
    serverName: "database",
    toolNames: ["classify"],
    samplingRequest: {
      messages: [{ role: "user", content: [{ type: "text", text: "How risky is it?" }] }],
      maxTokens: 500,
    },
    model: demoModel,
    ...part,
  };
}

/** A conversation in which the model called two of the server's tools, and one call failed. */
export const toolRequest: McpSamplingRequest = {
  messages: [
    { role: "user", content: [{ type: "text", text: "What is the weather in Paris?" }] },
    {
      role: "assistant",
      content: [
        { type: "text", text: "I look." },
        { type: "tool_use", id: "c1", name: "forecast", input: { city: "Paris" } },
        { type: "tool_use", id: "c2", name: "tides", input: {} },
      ],
    },
    {
      role: "user",
      content: [
        {
          type: "tool_result",
          toolUseId: "c1",
          content: [{ type: "text", text: "Rain from noon." }],
          structuredContent: { rain: true },
        },
        {
          type: "tool_result",
          toolUseId: "c2",
          content: [{ type: "text", text: "No coast." }],
          isError: true,
        },
      ],
    },
  ],
  maxTokens: 500,
  tools: [
    {
      name: "forecast",
      title: "Weather forecast",
      description: "The weather of *one* city.",
      inputSchema: { type: "object", properties: { city: { type: "string" } } },
    },
    { name: "tides" },
  ],
  toolChoice: { mode: "required" },
};

export function samplingReview(part: Partial<McpSamplingReview> = {}): McpSamplingReview {
  return {
    type: "mcp_sampling_review",
    serverName: "database",
    toolNames: ["classify"],
    samplingMessageId: 1,
    model: demoModel,
    samplingResponse: {
      type: "response",
      role: "assistant",
      content: [{ type: "text", text: "The risk is **low**." }],
      model: "demo",
    },
    ...part,
  };
}

export function urlElicitation(part: Partial<McpURLElicitation> = {}): McpURLElicitation {
  return {
    type: "mcp_url_elicitation",
    serverName: "database",
    toolNames: ["cleanup"],
    message: "**Sign in** to go on.",
    url: "https://login.example.com/device?code=42",
    ...part,
  };
}

export function permission(part: Partial<HostPermission> = {}): HostPermission {
  return {
    type: "host_permission",
    serverName: "Claude Code",
    sessionId: "s1",
    folder: "/home/ada/shop",
    tool: "Bash",
    input: '{"command":"git push"}',
    options: [
      { id: "once", name: "Allow", means: "It may do this once.", scope: "once" },
      {
        id: "suggestion-1",
        name: "Allow, and do not ask again",
        means: "Claude Code then allows Bash(git push) without asking, until its session ends.",
        scope: "session",
        rule: { type: "addRules" },
      },
    ],
    ...part,
  };
}

export function ask(askId: string, question: Ask["question"], outcome?: Outcome): Ask {
  return {
    type: "ask",
    askId,
    ask: "use_mcp_server",
    question,
    ...(outcome === undefined ? {} : { outcome }),
  };
}

/** An ask as in the inbox. */
export function openAsk(messageId: number, part: Partial<OpenAsk> = {}): OpenAsk {
  return {
    taskId: "t1",
    title: "First",
    messageId,
    time: at + messageId,
    askId: `a${messageId}`,
    wants: "mcp_elicitation",
    origin: { serverName: "database", toolNames: ["cleanup"] },
    text: "Delete 1,204 rows?",
    ...part,
  };
}

/** An unattributed request, which two calls may have caused. */
export function unattributedAsk(id: string, part: Partial<UnattributedAsk> = {}): UnattributedAsk {
  return {
    id,
    time: at,
    serverName: "device",
    wants: "mcp_elicitation",
    text: "Which **port**?",
    candidates: [
      {
        taskId: "t1",
        title: "First",
        messageId: 5,
        toolName: "flash",
        since: at,
        state: "inFlight",
      },
      {
        taskId: "t2",
        title: "Second",
        messageId: 6,
        resourceUri: "file:///a",
        since: at + 60_000,
        state: "givenUp",
      },
    ],
    ...part,
  };
}

export const answered: Outcome = { reason: "answered", by: "VS Code", at: at + 100 };

export function callTool(args: unknown = {}): CallToolRequest {
  return { type: "tools/call", toolName: "cleanup", arguments: args };
}

export function call(part: Partial<Call> = {}): Call {
  return { type: "call", serverName: "database", request: callTool(), ...part };
}

export function mcpTask(part: Partial<McpTask> = {}): McpTask {
  return { taskId: "786512e2", status: "working", createdAt: at, ...part };
}

export function server(part: Partial<Server> = {}): Server {
  return {
    name: "database",
    source: "mcp.json",
    transport: "stdio",
    command: "db",
    state: "running",
    ...part,
  };
}

export const tool: Tool = {
  name: "cleanup",
  description: "Removes what is old.",
  fields: [{ type: "string", name: "older", title: "Older than", required: true }],
};

export function grant(part: Partial<Grant> = {}): Grant {
  return {
    id: "g1",
    serverName: "database",
    models: [demoModel.id],
    maxRequests: 10,
    review: true,
    by: "VS Code",
    createdAt: at,
    spent: { requests: 3, tokens: 1200, cost: 0.02 },
    ...part,
  };
}

export function grantEntry(part: Partial<Grant> = {}): PolicyEntry {
  const of = grant(part);
  const { serverName, toolName, by, createdAt } = of;
  const head = { effect: "approve", serverName, by, at: createdAt } as const;
  return { type: "grant", ...head, ...(toolName !== undefined && { toolName }), grant: of };
}

const said = { by: "VS Code", at } as const;
const used = { count: 3, lastAt: at, lastServer: "mail" };

/** A policy entry of each kind and variant. */
export const policyEntries: readonly PolicyEntry[] = [
  grantEntry(),
  ...(["always", "task", "never"] as const).map(
    (remember): PolicyEntry => ({
      ...{ type: "toolRule", ruleId: remember === "never" ? "r2" : remember, remember, ...said },
      effect: remember === "never" ? "decline" : "approve",
      serverName: "database",
      toolName: { always: "cleanup", task: "count", never: "drop" }[remember],
      ...(remember === "task" && { taskId: "t1" }),
      ...(remember === "always" && { used }),
    }),
  ),
  { type: "declinedServer", effect: "decline", serverName: "mail", ...said },
  {
    ...{ type: "fixedAnswer", effect: "approve", serverName: "database", toolName: "deploy" },
    setting: "assent.elicitation.answers",
    content: { environment: "staging", copies: 2 },
    used: { ...used, count: 1 },
  },
  { type: "readOnlyTools", effect: "approve", setting: "assent.tools.autoApprove" },
  {
    ...{ type: "samplingReview", effect: "approve", review: "never" },
    setting: "assent.sampling.review",
    used: { ...used, count: 2 },
  },
  {
    ...{ type: "allowedModels", effect: "limit", serverName: "database" },
    setting: "assent.model.allowed",
    models: ["demo:*"],
  },
  { type: "allowedModels", effect: "limit", setting: "assent.model.allowed" },
  {
    ...{ type: "limit", effect: "limit", limit: "maxOpen", max: 32, default: true },
    setting: "assent.limits",
    used: { ...used, count: 4 },
  },
  ...(
    [
      "requestsPerMinute",
      "inFlight",
      "toolRounds",
      "answerSeconds",
      "promptBytes",
      "imageBytes",
    ] as const
  ).map(
    (limit): PolicyEntry => ({
      ...{ type: "limit", effect: "limit", limit, setting: "assent.limits" },
      ...(limit.endsWith("Bytes") ? { max: 2 << 20, default: true } : { max: 5 }),
    }),
  ),
];

/** Two hosts with servers of one name, a project's server, and a file that cannot be read. */
export function setupPlan(part: Partial<SetupPlan> = {}): SetupPlan {
  return {
    id: "p1",
    userFile: "/home/ada/.config/assent/mcp.json",
    hosts: ["Codex", "Cursor"],
    servers: [
      {
        name: "shop",
        runs: "npx -y shop-server",
        copies: [
          { host: "Codex", path: "/home/ada/.codex/config.toml", name: "shop", changes: true },
        ],
        hosts: ["Codex"],
        secrets: ["env SHOP_TOKEN"],
      },
      {
        name: "shop-cursor",
        runs: "npx -y shop-server@1",
        copies: [
          { host: "Cursor", path: "/home/ada/.cursor/mcp.json", name: "shop", changes: true },
        ],
        hosts: ["Cursor"],
        differs: ["args"],
        warnings: ["Cursor's autoApprove is not copied."],
      },
      {
        name: "theirs",
        runs: "theirs",
        copies: [{ host: "Cursor", path: "/p/.cursor/mcp.json", name: "theirs", folder: "/p" }],
        fixed: true,
      },
    ],
    files: ["/home/ada/.codex/config.toml", "/home/ada/.cursor/mcp.json"],
    problems: [{ path: "/home/ada/.gemini/settings.json", message: "It cannot be read." }],
    secrets: "keychain",
    ...part,
  };
}
