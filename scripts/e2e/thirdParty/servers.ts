import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { run } from "../../tools/lib/command.ts";
import { distFolder, root } from "../../tools/lib/paths.ts";
import { freePort } from "../processes.ts";

/** A third-party MCP server. */
export type Program =
  | "server-everything"
  | "server-filesystem"
  | "go-sdk everything"
  | "go-sdk sse";

/** A way to reach a server: mcp.json's type, and the words for it in the panel. */
export const transports = {
  stdio: "stdio",
  http: "Streamable HTTP",
  sse: "HTTP with SSE",
} as const;

/** One program over one of the transports that it offers. */
export interface ThirdParty {
  /** The server's name in mcp.json. */
  readonly name: string;
  readonly program: Program;
  readonly transport: keyof typeof transports;
  /** The version of MCP that is spoken in the end. */
  readonly protocolVersion: "2025-11-25" | "2026-07-28";
  /** It accepts 2026-07-28, in which its tools cannot ask: the first one that tries is called again. */
  readonly fallsBack?: true;
  /** The version must be requested. By default the server would use another. */
  readonly configured?: true;
  /** Starts the program; over HTTP it then listens on the port, over stdio the port is unused. */
  command(port: number): Command;
  /** Where the server is, behind the port; absent over stdio. */
  readonly path?: string;
}

export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const ofMCP = (name: string) =>
  join(root, ...["node_modules", "@modelcontextprotocol", name, "dist", "index.js"]);
const everything = ofMCP("server-everything");
const filesystem = ofMCP("server-filesystem");
const goExamples = "github.com/modelcontextprotocol/go-sdk/examples/server";
const goEverything = join(distFolder, "go-sdk-everything");
const goSSE = join(distFolder, "go-sdk-sse");

/**
 * Every program with every transport that it offers. go-sdk has an example called elicitation too, but
 * that server talks to a client in its own process and offers no transport.
 */
export const thirdParties: readonly ThirdParty[] = [
  {
    name: "everything-stdio",
    program: "server-everything",
    transport: "stdio",
    protocolVersion: "2025-11-25",
    command: () => ({ command: process.execPath, args: [everything, "stdio"] }),
  },
  {
    name: "everything-http",
    program: "server-everything",
    transport: "http",
    protocolVersion: "2025-11-25",
    path: "/mcp",
    command: (port) => ({
      command: process.execPath,
      args: [everything, "streamableHttp"],
      env: { PORT: String(port) },
    }),
  },
  {
    name: "everything-sse",
    program: "server-everything",
    transport: "sse",
    protocolVersion: "2025-11-25",
    path: "/sse",
    command: (port) => ({
      command: process.execPath,
      args: [everything, "sse"],
      env: { PORT: String(port) },
    }),
  },
  {
    // Without arguments, the folders that it may use are the roots.
    name: "filesystem",
    program: "server-filesystem",
    transport: "stdio",
    protocolVersion: "2025-11-25",
    command: () => ({ command: process.execPath, args: [filesystem] }),
  },
  {
    name: "go-everything-stdio",
    program: "go-sdk everything",
    transport: "stdio",
    protocolVersion: "2025-11-25",
    fallsBack: true,
    command: () => ({ command: goEverything, args: [] }),
  },
  {
    name: "go-everything-older",
    program: "go-sdk everything",
    transport: "stdio",
    protocolVersion: "2025-11-25",
    configured: true,
    command: () => ({ command: goEverything, args: [] }),
  },
  {
    name: "go-everything-http",
    program: "go-sdk everything",
    transport: "http",
    protocolVersion: "2025-11-25",
    path: "/",
    command: (port) => ({ command: goEverything, args: ["-http", `127.0.0.1:${port}`] }),
  },
  {
    name: "go-sse",
    program: "go-sdk sse",
    transport: "sse",
    protocolVersion: "2025-11-25",
    path: "/greeter1",
    command: (port) => ({ command: goSSE, args: ["-host", "127.0.0.1", "-port", String(port)] }),
  },
];

/** Builds those that are Go programs, from the module cache. */
export async function buildThirdParties(): Promise<void> {
  await run("go", ["build", "-o", goEverything, `${goExamples}/everything`]);
  await run("go", ["build", "-o", goSSE, `${goExamples}/sse`]);
}

/** Servers that listen, and all in the shape of mcp.json. */
export interface Started {
  readonly processes: readonly ChildProcess[];
  readonly servers: Readonly<Record<string, unknown>>;
}

/**
 * Starts the servers over HTTP, each in a separate process group with the mark, a NAME=value, in its environment. They may
 * not be listening yet when this returns. The sidecar starts those over stdio.
 */
export async function startThirdParties(mark: string): Promise<Started> {
  const [name = "", value = ""] = mark.split("=");
  const processes: ChildProcess[] = [];
  const servers: Record<string, unknown> = {};
  for (const server of thirdParties) {
    const version = server.configured && { protocolVersion: server.protocolVersion };
    if (server.path === undefined) {
      servers[server.name] = { ...server.command(0), ...version };
      continue;
    }
    const port = await freePort();
    const { command, args, env } = server.command(port);
    processes.push(
      spawn(command, args, {
        env: { ...process.env, ...env, [name]: value },
        detached: true,
        stdio: "ignore",
      }),
    );
    const url = `http://127.0.0.1:${port}${server.path}`;
    servers[server.name] = { type: server.transport, url, ...version };
  }
  return { processes, servers };
}
