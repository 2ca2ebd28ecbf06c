import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { root } from "../../setup/paths.ts";

const program = join(root, "scripts", "test-tasks-server.mjs");

/** A shape of MCP tasks, and a way to the server. */
export interface Setup {
  readonly era: "legacy" | "modern";
  readonly transport: "stdio" | "http";
}

export const setups: readonly Setup[] = [
  { era: "modern", transport: "stdio" },
  { era: "modern", transport: "http" },
  { era: "legacy", transport: "stdio" },
  { era: "legacy", transport: "http" },
];

/** The example server, as it is configured. */
export interface ExampleServer {
  /** The shape of mcp.json. */
  readonly config: unknown;
  /** What the server itself knows of a task. */
  record(mcpTaskId: string): Promise<TaskRecord>;
  stop(): Promise<void>;
}

/** The part of a task's file that a test looks at. */
export interface TaskRecord {
  readonly status: string;
}

/** Configures the example server: the sidecar starts it, or it listens already. */
export async function exampleServer(
  setup: Setup,
  folder: string,
  environment: Readonly<Record<string, string>>,
): Promise<ExampleServer> {
  const store = join(folder, "server");
  await mkdir(store, { recursive: true });
  const args = [program, "--era", setup.era, "--store", store, "--poll-interval", "100"];
  const record = async (mcpTaskId: string): Promise<TaskRecord> =>
    JSON.parse(await readFile(join(store, `${mcpTaskId}.json`), "utf8"));
  if (setup.transport === "stdio") {
    const config = { type: "stdio", command: process.execPath, args };
    return { config, record, stop: async () => undefined };
  }
  const server = spawn(process.execPath, [...args, "--http", "0"], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...environment },
  });
  const exited = once(server, "exit");
  const [url] = await Promise.race([
    once(createInterface(server.stdout), "line"),
    exited.then(() => Promise.reject(new Error("test-tasks-server ended before it served"))),
  ]);
  const stop = async (): Promise<void> => {
    server.kill();
    await exited;
  };
  return { config: { type: "http", url }, record, stop };
}
