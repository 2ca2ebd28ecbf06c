import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

/** A way to a server of scripts/testservers/kit. */
export type Transport = "stdio" | "http";

type Config =
  | { readonly type: "stdio"; readonly command: string; readonly args: readonly string[] }
  | { readonly type: "http"; readonly url: string };

/** A raw MCP server, as it is configured. */
export interface RawServer {
  /** The shape of mcp.json. */
  readonly config: Config;
  stop(): Promise<void>;
}

/** Configures a raw MCP server: the sidecar starts it, or it listens already. */
export async function rawServer(
  program: string,
  args: readonly string[],
  transport: Transport,
  environment: Readonly<Record<string, string>>,
): Promise<RawServer> {
  if (transport === "stdio") {
    const config = { type: "stdio" as const, command: process.execPath, args: [program, ...args] };
    return { config, stop: async () => undefined };
  }
  const server = spawn(process.execPath, [program, ...args, "--http", "0"], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, ...environment },
  });
  const exited = once(server, "exit");
  const [url] = await Promise.race([
    once(createInterface(server.stdout), "line"),
    exited.then(() => Promise.reject(new Error(`${program} ended before it served`))),
  ]);
  const stop = async (): Promise<void> => {
    server.kill();
    await exited;
  };
  return { config: { type: "http", url: String(url) }, stop };
}
