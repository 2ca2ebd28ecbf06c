// The two transports from a client's view: both start their own server and put received messages into an inbox.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { Inbox, type Message } from "./inbox.ts";

export interface Wire {
  readonly inbox: Inbox;
  /** Resolves when the server has the message and, if it is a request over HTTP, has answered it. */
  send(message: Message): Promise<void>;
  /** Ends a request without an answer to it: the transport's way to cancel (2026-07-28). */
  cancel(id: string): void;
  /** Kills the server and waits for its end. */
  kill(): Promise<void>;
}

type Server = ChildProcessByStdio<Writable, Readable, Readable>;

/** Starts the program. Its stderr is shown, unless the test reads it. */
export function start(
  program: string,
  args: readonly string[],
  stderr: "inherit" | "pipe" = "inherit",
): Server {
  const server = spawn(process.execPath, [program, ...args], { stdio: ["pipe", "pipe", "pipe"] });
  if (stderr === "inherit") server.stderr.pipe(process.stderr, { end: false });
  return server;
}

async function end(server: Server): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  server.kill("SIGKILL");
  await once(server, "exit");
}

export async function stdioWire(program: string, args: readonly string[]): Promise<Wire> {
  const server = start(program, args);
  const inbox = new Inbox();
  createInterface(server.stdout).on("line", (line) => inbox.add(JSON.parse(line)));
  const send = async (message: Message): Promise<void> => {
    server.stdin.write(`${JSON.stringify(message)}\n`);
  };
  return {
    inbox,
    send,
    cancel: (requestId) =>
      void send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } }),
    kill: () => end(server),
  };
}

/** A message over HTTP has the id of the POST that it answers, or "GET". */
export async function httpWire(
  program: string,
  args: readonly string[],
): Promise<Wire & { url: string }> {
  const server = start(program, ["--http", "0", ...args]);
  const [url] = (await once(createInterface(server.stdout), "line")) as [string];
  const inbox = new Inbox();
  const posts = new Map<string, AbortController>();
  let session: string | undefined;
  let version: string | undefined;

  async function post(message: Message): Promise<void> {
    const abort = new AbortController();
    if (message["method"] === "initialize") version = message["params"].protocolVersion;
    posts.set(message["id"], abort);
    const response = await fetch(url, {
      method: "POST",
      headers: headersOf(message, session, version),
      body: JSON.stringify(message),
      signal: abort.signal,
    });
    await read(response, inbox, message["id"]);
    const assigned = response.headers.get("mcp-session-id");
    if (assigned === null) return;
    session = assigned;
    const stream = await fetch(url, { headers: headersOf({}, session, version) });
    void quietly(read(stream, inbox, "GET"));
  }

  return {
    url,
    inbox,
    send: (message) => quietly(post(message)),
    cancel: (id) => posts.get(id)?.abort(),
    kill: () => end(server),
  };
}

/** A request fails if it is cancelled or its server is killed. The test gets no message. */
async function quietly(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    const name = error instanceof Error ? error.name : "";
    if (name !== "AbortError" && name !== "TypeError") throw error;
  }
}

export function headersOf(
  message: Message,
  session?: string,
  sessionVersion = "2025-11-25",
): Record<string, string> {
  const { method, params } = message;
  const version = params?._meta?.["io.modelcontextprotocol/protocolVersion"];
  const name = params?.taskId ?? params?.name;
  return {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    ...(session !== undefined && {
      "Mcp-Session-Id": session,
      "MCP-Protocol-Version": sessionVersion,
    }),
    ...(version !== undefined && { "MCP-Protocol-Version": version, "Mcp-Method": method }),
    ...(version !== undefined && name !== undefined && { "Mcp-Name": name }),
  };
}

/** Puts the messages of an answer into the inbox, as they come. */
async function read(response: Response, inbox: Inbox, on: string): Promise<void> {
  const add = (text: string): void => inbox.add({ ...JSON.parse(text), on });
  if (response.headers.get("content-type") === "application/json") {
    add(await response.text());
    return;
  }
  let text = "";
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const events = (text + chunk).split("\n\n");
    text = events.pop() ?? "";
    for (const event of events) {
      const data = /^data: (.*)$/m.exec(event)?.[1];
      if (data !== undefined) add(data);
    }
  }
}
