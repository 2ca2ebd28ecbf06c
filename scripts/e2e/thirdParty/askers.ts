import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { output, run } from "../../tools/lib/command.ts";
import { distFolder, root } from "../../tools/lib/paths.ts";
import type { Command } from "./servers.ts";

/** Something that a tool asks in the middle of its call, and the answer. */
export type Asked =
  | {
      readonly kind: "form";
      readonly message: string;
      /** The values to fill in. Without them, the form is declined. */
      readonly content?: Readonly<Record<string, unknown>>;
    }
  | {
      /** Approved, and answered by the demo model. */
      readonly kind: "completion";
      /** In its last message. */
      readonly message: string;
    }
  | {
      readonly kind: "page";
      readonly url: RegExp;
      /** Whether it is opened, or declined. */
      readonly open: boolean;
    };

/** A tool that asks, or requests the roots, which Assent provides without asking. */
export interface AskingTool {
  readonly tool: string;
  /** The tool asks nothing and wants no roots, because the program between cannot pass questions on. */
  readonly silent?: true;
  readonly args?: Readonly<Record<string, unknown>>;
  /** Its call becomes an MCP task, and is answered only then. */
  readonly task?: true;
  /** In the order in which they are answered; those that come together may come in another. */
  readonly asks: readonly Asked[];
  /** What the texts of its result look like then. */
  readonly result: RegExp;
}

/** A server of others over one transport, with each of its tools that asks. */
export interface Asker {
  /** Its name in the configuration. */
  readonly name: string;
  /** For the table. */
  readonly program: string;
  readonly transport: "stdio" | "http" | "sse" | "ws";
  /** The version of MCP that is spoken in the end. */
  readonly version: "2024-11-05" | "2025-11-25" | "2026-07-28";
  /**
   * A slow start may leave it in 2025-11-25. Assent then sends initialize too, which makes a connection of the TypeScript
   * SDK one of that era.
   */
  readonly olderIfSlow?: true;
  /** Starts the program. Except over stdio, it then listens on the port. The other port is free as well. */
  command(port: number, other: number): Command;
  /** It wants a login, which its own page grants to everybody. */
  readonly login?: true;
  /** The path of its URL; absent over stdio. */
  readonly path?: string;
  readonly tools: readonly AskingTool[];
}

const mcpGo = "github.com/mark3labs/mcp-go";
const thirdParty = join(root, "scripts", "testservers", "third-party");
const modules = join(root, "node_modules");

/** Where the examples of mcp-go are, once they are built. */
const mcpGoFolder = join(distFolder, "mcp-go");
const mcpGoExample = (name: string): string => join(mcpGoFolder, name);

const goEverything = join(distFolder, "go-sdk-everything");

const program = (...path: readonly string[]): Command => ({
  command: process.execPath,
  args: path,
});
const everything = join(modules, "@modelcontextprotocol/server-everything/dist/index.js");
const sdkExamples = join(modules, "@modelcontextprotocol/sdk/dist/esm/examples/server");
const sdk2 = join(thirdParty, "typescript-sdk-2.mjs");
const fastmcp = join(thirdParty, "fastmcp.mjs");
const supergateway = join(modules, "supergateway/dist/index.js");

/** The completion that server-everything asks for, and the part of the answer that it returns. */
const everythingTools: readonly AskingTool[] = [
  {
    tool: "trigger-sampling-request",
    args: { prompt: "What is sampling?", maxTokens: 5 },
    asks: [{ kind: "completion", message: "What is sampling?" }],
    result: /^LLM sampling result: .*"stopReason": "maxTokens"/s,
  },
  {
    tool: "trigger-elicitation-request",
    asks: [
      {
        kind: "form",
        message: "Please provide inputs for the following fields:",
        content: { name: "Ada", check: true, integer: 7 },
      },
    ],
    result: /"action": "accept".*"name": "Ada"/s,
  },
];

const everythingEcho: AskingTool = {
  tool: "echo",
  silent: true,
  args: { message: "hello" },
  asks: [],
  result: /^Echo: hello$/,
};

const goEverythingTools: readonly AskingTool[] = [
  {
    tool: "elicit (form)",
    asks: [{ kind: "form", message: "provide a random string", content: { random: "four" } }],
    result: /^four$/,
  },
  {
    tool: "elicit (url)",
    asks: [{ kind: "page", url: /^http:\/\/localhost:6062\/?\?id=/, open: false }],
    result: /^\(elicitation pending\)$/,
  },
  { tool: "roots", asks: [], result: /^workspace:file:\/\/\// },
];

const mcpGoSampling: readonly AskingTool[] = [
  {
    tool: "ask_llm",
    args: { question: "What is sampling?" },
    asks: [{ kind: "completion", message: "What is sampling?" }],
    result: /^LLM Response \(model: .+\): ./,
  },
];

const who = { kind: "form", message: "Who are you?", content: { name: "Ada" } } as const;
const colour = { kind: "completion", message: "Name a colour" } as const;
const login = { kind: "page", url: /^https:\/\/login\.example\/a\?b=c$/, open: true } as const;

const sdk2Tools: readonly AskingTool[] = [
  { tool: "form", asks: [who], result: /^\{"name":"Ada"\}$/ },
  { tool: "page", asks: [login], result: /"action":"accept"/ },
  {
    tool: "all_at_once",
    asks: [who, colour],
    result: /"name":"Ada".*"role":"assistant".*"uri":"file:\/\/\//,
  },
];

const sdk2Requests: readonly AskingTool[] = [
  { tool: "request_form", asks: [who], result: /^\{"action":"accept","content":\{"name":"Ada"\}/ },
  { tool: "request_completion", asks: [colour], result: /"role":"assistant"/ },
];

const fastmcpTools: readonly AskingTool[] = [
  { tool: "form", asks: [who], result: /"action":"accept".*"name":"Ada"/ },
  { tool: "page", asks: [login], result: /"action":"accept"/ },
  { tool: "completion", asks: [colour], result: /"role":"assistant"/ },
];

// Over Streamable HTTP, fastmcp looks for what the client declares before the handshake, and then asks for no roots.
const fastmcpRoots: AskingTool = { tool: "roots", asks: [], result: /"uri":"file:\/\/\// };

/** Every tool that asks, of every example and over every transport. */
export const askers: readonly Asker[] = [
  {
    name: "go-sdk-stdio",
    program: "go-sdk everything",
    transport: "stdio",
    version: "2025-11-25",
    command: () => ({ command: goEverything, args: [] }),
    tools: goEverythingTools,
  },
  {
    name: "go-sdk-http",
    program: "go-sdk everything",
    transport: "http",
    version: "2025-11-25",
    path: "/",
    command: (port) => ({ command: goEverything, args: ["-http", `127.0.0.1:${port}`] }),
    tools: goEverythingTools,
  },
  {
    name: "mcp-go-elicitation",
    program: "mcp-go elicitation",
    transport: "stdio",
    version: "2025-11-25",
    command: () => ({ command: mcpGoExample("elicitation"), args: [] }),
    tools: [
      {
        tool: "create_project",
        asks: [
          {
            kind: "form",
            message: "I need some information to set up your project.",
            content: { projectName: "ada", framework: "vue" },
          },
        ],
        result: /^Created project 'ada' with framework: vue, tests: true$/,
      },
      {
        tool: "process_data",
        args: { data: "x".repeat(101) },
        asks: [{ kind: "form", message: "The data is 101 characters", content: { proceed: true } }],
        result: /^Processed 101 characters of data/,
      },
      {
        tool: "auth_via_url",
        asks: [
          {
            kind: "page",
            url: /^https:\/\/myserver\.com\/set-api-key\?elicitationId=/,
            open: true,
          },
        ],
        result: /^Authentication flow initiated/,
      },
      {
        // It wants its page visited at every call.
        tool: "protected_action",
        asks: [{ kind: "page", url: /^https:\/\/myserver\.com\/authorize\?id=/, open: false }],
        result: /"code":-32042/,
      },
    ],
  },
  {
    name: "mcp-go-sampling",
    program: "mcp-go sampling_server",
    transport: "stdio",
    version: "2025-11-25",
    command: () => ({ command: mcpGoExample("sampling_server"), args: [] }),
    tools: mcpGoSampling,
  },
  {
    name: "mcp-go-sampling-http",
    program: "mcp-go sampling_http_server",
    transport: "http",
    version: "2025-11-25",
    path: "/mcp",
    command: (port) => ({
      command: mcpGoExample("sampling_http_server"),
      args: [`127.0.0.1:${port}`],
    }),
    tools: mcpGoSampling,
  },
  {
    name: "mcp-go-roots",
    program: "mcp-go roots_server",
    transport: "stdio",
    version: "2025-11-25",
    command: () => ({ command: mcpGoExample("roots_server"), args: [] }),
    tools: [{ tool: "roots", asks: [], result: /^Root list: \[.*file:\/\/\// }],
  },
  {
    name: "mcp-go-roots-http",
    program: "mcp-go roots_http_server",
    transport: "http",
    version: "2025-11-25",
    path: "/mcp",
    command: (port) => ({
      command: mcpGoExample("roots_http_server"),
      args: [`127.0.0.1:${port}`],
    }),
    tools: [
      {
        tool: "roots",
        args: { testonly: "yes" },
        asks: [],
        result: /^Root list: \[.*file:\/\/\//,
      },
    ],
  },
  {
    name: "mcp-go-rounds",
    program: "mcp-go multi_round_trip",
    transport: "stdio",
    version: "2026-07-28",
    command: () => ({ command: mcpGoExample("multi_round_trip"), args: [] }),
    tools: [
      {
        tool: "deploy",
        args: { environment: "production" },
        asks: [{ kind: "form", message: "Deploy to production?", content: { approve: true } }],
        result: /^deployed to production$/,
      },
    ],
  },
  {
    name: "mcp-go-conformance",
    program: "mcp-go conformance",
    transport: "http",
    version: "2025-11-25",
    path: "/mcp",
    command: (port) => ({
      command: mcpGoExample("conformance"),
      args: [],
      env: { CONFORMANCE_ADDR: `127.0.0.1:${port}` },
    }),
    tools: [
      {
        tool: "test_sampling",
        args: { prompt: "What is sampling?" },
        asks: [{ kind: "completion", message: "What is sampling?" }],
        result: /^LLM response: ./,
      },
      {
        tool: "test_elicitation",
        args: { message: "Who are you?" },
        asks: [
          {
            kind: "form",
            message: "Who are you?",
            content: { username: "Ada", email: "ada@example.com" },
          },
        ],
        result: /action=accept, content=map\[email:ada@example.com username:Ada\]/,
      },
      {
        tool: "test_elicitation_sep1034_defaults",
        asks: [
          { kind: "form", message: "Provide your information", content: { name: "Ada", age: 36 } },
        ],
        result: /action=accept, content=map\[age:36 name:Ada/,
      },
      {
        tool: "test_elicitation_sep1330_enums",
        asks: [
          {
            kind: "form",
            message: "Select options",
            content: {
              untitledSingle: "option2",
              titledSingle: "value1",
              legacyEnum: "opt1",
              untitledMulti: ["option1", "option2"],
              titledMulti: ["value2"],
            },
          },
        ],
        result: /titledMulti:\[value2\] .*untitledMulti:\[option1 option2\]/,
      },
    ],
  },
  {
    name: "sdk-1-sampling",
    program: "TypeScript SDK 1 toolWithSampleServer",
    transport: "stdio",
    version: "2025-11-25",
    command: () => program(join(sdkExamples, "toolWithSampleServer.js")),
    tools: [
      {
        tool: "summarize",
        args: { text: "A long story" },
        asks: [{ kind: "completion", message: "Please summarize the following text" }],
        result: /./,
      },
    ],
  },
  {
    name: "sdk-1-forms",
    program: "TypeScript SDK 1 elicitationFormExample",
    transport: "http",
    version: "2025-11-25",
    path: "/mcp",
    command: (port) => ({
      ...program(join(sdkExamples, "elicitationFormExample.js")),
      env: { PORT: String(port) },
    }),
    tools: [
      {
        tool: "register_user",
        asks: [
          {
            kind: "form",
            message: "Please provide your registration information:",
            content: {
              username: "ada",
              email: "ada@example.com",
              password: "long enough",
              newsletter: true,
              role: "designer",
              interests: ["ai"],
            },
          },
        ],
        result:
          /^Registration successful!\n\nUsername: ada\nEmail: ada@example.com\nNewsletter: Yes$/,
      },
      {
        tool: "create_event",
        asks: [
          {
            kind: "form",
            message: "Step 1: Enter basic event information",
            content: { title: "Tea" },
          },
          {
            kind: "form",
            message: "Step 2: Enter date and time",
            content: { date: "1843-07-01", startTime: "17:00", duration: 60 },
          },
        ],
        result: /^Event created successfully!.*"duration": 60/s,
      },
      {
        tool: "update_shipping_address",
        asks: [{ kind: "form", message: "Please provide your shipping address:" }],
        result: /^Address update cancelled by user\.$/,
      },
    ],
  },
  {
    name: "sdk-1-pages",
    program: "TypeScript SDK 1 elicitationUrlExample",
    transport: "http",
    version: "2025-11-25",
    path: "/mcp",
    command: (port, other) => ({
      ...program(join(sdkExamples, "elicitationUrlExample.js")),
      env: { MCP_PORT: String(port), MCP_AUTH_PORT: String(other) },
    }),
    login: true,
    tools: [
      {
        // Both tools want their page visited at every call.
        tool: "payment-confirm",
        args: { cartId: "7" },
        asks: [{ kind: "page", url: /\/confirm-payment\?.*&cartId=7$/, open: false }],
        result: /"code":-32042/,
      },
      {
        tool: "third-party-auth",
        args: { param1: "x" },
        asks: [
          { kind: "page", url: /^https:\/\/www\.example\.com\/oauth\/authorize$/, open: false },
        ],
        result: /"code":-32042/,
      },
    ],
  },
  {
    name: "sdk-1-http",
    program: "TypeScript SDK 1 simpleStreamableHttp",
    transport: "http",
    version: "2025-11-25",
    path: "/mcp",
    command: (port) => ({
      ...program(join(sdkExamples, "simpleStreamableHttp.js")),
      env: { MCP_PORT: String(port) },
    }),
    tools: [
      {
        tool: "collect-user-info",
        args: { infoType: "feedback" },
        asks: [
          {
            kind: "form",
            message: "Please provide your feedback",
            content: { rating: 5, recommend: true },
          },
        ],
        result: /^Thank you! Collected feedback information: .*"rating": 5/s,
      },
      {
        tool: "collect-user-info-task",
        task: true,
        args: { infoType: "contact" },
        asks: [
          {
            kind: "form",
            message: "Please provide your contact information",
            content: { name: "Ada", email: "ada@example.com" },
          },
        ],
        result: /^Collected contact info: .*"name": "Ada"/s,
      },
    ],
  },
  {
    name: "sdk-1-tasks",
    program: "TypeScript SDK 1 simpleTaskInteractive",
    transport: "http",
    version: "2025-11-25",
    path: "/mcp",
    command: (port) => ({
      ...program(join(sdkExamples, "simpleTaskInteractive.js")),
      env: { PORT: String(port) },
    }),
    tools: [
      {
        tool: "confirm_delete",
        task: true,
        args: { filename: "notes.txt" },
        asks: [
          {
            kind: "form",
            message: "Are you sure you want to delete 'notes.txt'?",
            content: { confirm: true },
          },
        ],
        result: /^Deleted 'notes.txt'$/,
      },
      {
        tool: "write_haiku",
        task: true,
        args: { topic: "rain" },
        asks: [{ kind: "completion", message: "Write a haiku about rain" }],
        result: /^Haiku:\n./,
      },
    ],
  },
  {
    name: "sdk-2-stdio",
    program: "TypeScript SDK 2",
    transport: "stdio",
    version: "2026-07-28",
    olderIfSlow: true,
    command: () => program(sdk2),
    tools: sdk2Tools,
  },
  {
    name: "sdk-2-http",
    program: "TypeScript SDK 2",
    transport: "http",
    version: "2026-07-28",
    path: "/mcp",
    command: (port) => program(sdk2, "--http", String(port)),
    tools: sdk2Tools,
  },
  {
    name: "sdk-2-requests",
    program: "TypeScript SDK 2",
    transport: "stdio",
    version: "2025-11-25",
    command: () => program(sdk2),
    tools: sdk2Requests,
  },
  {
    name: "fastmcp-stdio",
    program: "fastmcp",
    transport: "stdio",
    version: "2025-11-25",
    command: () => program(fastmcp),
    tools: [...fastmcpTools, fastmcpRoots],
  },
  {
    name: "fastmcp-http",
    program: "fastmcp",
    transport: "http",
    version: "2025-11-25",
    path: "/mcp",
    command: (port) => program(fastmcp, "--http", String(port)),
    tools: fastmcpTools,
  },
  {
    name: "fastmcp-sse",
    program: "fastmcp",
    transport: "sse",
    version: "2025-11-25",
    path: "/sse",
    command: (port) => program(fastmcp, "--http", String(port)),
    tools: [...fastmcpTools, fastmcpRoots],
  },
  ...(["sse", "ws", "http"] as const).map(
    (transport): Asker => ({
      name: `supergateway-${transport}`,
      program: "supergateway, server-everything",
      transport,
      version: "2025-11-25",
      path: { sse: "/sse", ws: "/message", http: "/mcp" }[transport],
      command: (port) =>
        program(
          supergateway,
          ...["--stdio", `"${process.execPath}" "${everything}" stdio`, "--port", String(port)],
          ...["--outputTransport", transport === "http" ? "streamableHttp" : transport],
          ...(transport === "http" ? ["--stateful"] : []),
        ),
      // Over a WebSocket it changes the id of every answer, which the server behind it then waits for in vain.
      tools: transport === "ws" ? [everythingEcho] : everythingTools,
    }),
  ),
  // The command mcp-proxy passes no question on, since it declares nothing to the server behind it.
  {
    name: "mcp-proxy-http",
    program: "mcp-proxy, TypeScript SDK 2",
    transport: "http",
    version: "2026-07-28",
    path: "/mcp",
    command: (port) => program(sdk2, "--mcp-proxy", String(port)),
    tools: sdk2Tools,
  },
  {
    name: "mcp-proxy-requests",
    program: "mcp-proxy, TypeScript SDK 2",
    transport: "http",
    version: "2025-11-25",
    path: "/mcp",
    command: (port) => program(sdk2, "--mcp-proxy", String(port)),
    tools: sdk2Requests,
  },
  {
    name: "mcp-proxy-sse",
    program: "mcp-proxy, TypeScript SDK 2",
    transport: "sse",
    version: "2025-11-25",
    path: "/sse",
    command: (port) => program(sdk2, "--mcp-proxy", String(port)),
    tools: [...sdk2Tools, ...sdk2Requests],
  },
];

/**
 * Builds mcp-go's examples, from a go.mod of their own. Some listen on port 8080 alone, and one talks to a client in its
 * own process. A line of these is changed, so that they listen where their argument says, or serve stdio.
 */
export async function buildMcpGoExamples(): Promise<void> {
  const modFile = `-modfile=${join(thirdParty, "go.mod")}`;
  const names = ["conformance", "elicitation", "roots_server", "sampling_server"];
  const packages = names.map((name) => `${mcpGo}/examples/${name}`);
  await mkdir(mcpGoFolder, { recursive: true });
  await run("go", ["build", modFile, "-o", `${mcpGoFolder}/`, ...packages]);

  const listens = (source: string): string =>
    source.replace('.Start(":8080")', ".Start(os.Args[1])").replace("import (", 'import (\n\t"os"');
  const served = (source: string): string =>
    source
      .replace("func main()", "func example()")
      .concat("\nfunc main() { log.Fatal(server.ServeStdio(newServer())) }\n");
  const changed = {
    sampling_http_server: listens,
    roots_http_server: listens,
    multi_round_trip: served,
  };
  const find = ["list", "-m", modFile, "-f", "{{.Dir}}", mcpGo];
  const module = (await output("go", find)).trim();
  for (const [name, change] of Object.entries(changed)) {
    const source = await readFile(join(module, "examples", name, "main.go"), "utf8");
    const copy = mcpGoExample(`${name}.go`);
    await writeFile(copy, change(source));
    await run("go", ["build", modFile, "-o", mcpGoExample(name), copy]);
  }
}
