import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "../../tools/lib/paths.ts";
import { type RawServer, rawServer, type Transport } from "../rawServer.ts";

const program = join(root, "scripts", "testservers", "tasks.mjs");

/** A shape of MCP tasks, and a way to the server. */
export interface Setup {
  readonly era: "legacy" | "modern";
  readonly transport: Transport;
}

export const setups: readonly Setup[] = [
  { era: "modern", transport: "stdio" },
  { era: "modern", transport: "http" },
  { era: "legacy", transport: "stdio" },
  { era: "legacy", transport: "http" },
];

/** The example server. */
export interface ExampleServer extends RawServer {
  /** What the server itself knows of a task. */
  record(mcpTaskId: string): Promise<TaskRecord>;
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
  const args = ["--era", setup.era, "--store", store, "--poll-interval", "100"];
  const record = async (mcpTaskId: string): Promise<TaskRecord> =>
    JSON.parse(await readFile(join(store, `${mcpTaskId}.json`), "utf8"));
  return { ...(await rawServer(program, args, setup.transport, environment)), record };
}
