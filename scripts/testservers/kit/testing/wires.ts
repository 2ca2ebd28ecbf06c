// The two transports from a client's view: both start their own server.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";

/** A JSON-RPC message of a test. Its shape is what the test says. */
// biome-ignore lint/suspicious/noExplicitAny: a test reads the members that it expects
export type Message = Record<string, any>;

type Server = ChildProcessByStdio<Writable, Readable, Readable>;

/** A server, its received messages that were not taken yet, and who waits for one. */
export abstract class Wire {
  readonly #server: Server;
  readonly #messages: Message[] = [];
  readonly #waiting = new Set<() => void>();

  constructor(server: Server) {
    this.#server = server;
  }

  /** Resolves when the server has the message and, if it is a request over HTTP, has answered it. */
  abstract send(message: Message): Promise<void>;

  /** Takes the first message that fits, now or when it comes; the test's own timeout is the limit. */
  async take(fits: (message: Message) => boolean): Promise<Message> {
    return await new Promise((resolve) => {
      const look = (): void => {
        const index = this.#messages.findIndex(fits);
        const [message] = index < 0 ? [] : this.#messages.splice(index, 1);
        if (message === undefined) return;
        this.#waiting.delete(look);
        resolve(message);
      };
      this.#waiting.add(look);
      look();
    });
  }

  /** Kills the server and waits for its end. */
  async kill(): Promise<void> {
    if (this.#server.exitCode !== null || this.#server.signalCode !== null) return;
    this.#server.kill("SIGKILL");
    await once(this.#server, "exit");
  }

  protected add(text: string): void {
    this.#messages.push(JSON.parse(text));
    for (const look of [...this.#waiting]) look();
  }
}

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

class StdioWire extends Wire {
  readonly #stdin: Writable;

  constructor(server: Server) {
    super(server);
    this.#stdin = server.stdin;
    createInterface(server.stdout).on("line", (line) => this.add(line));
  }

  async send(message: Message): Promise<void> {
    this.#stdin.write(`${JSON.stringify(message)}\n`);
  }
}

export async function stdioWire(program: string, args: readonly string[]): Promise<Wire> {
  return new StdioWire(start(program, args));
}

export async function httpWire(program: string, args: readonly string[]): Promise<Wire> {
  const server = start(program, ["--http", "0", ...args]);
  const [url] = (await once(createInterface(server.stdout), "line")) as [string];
  return new HttpWire(server, url);
}

class HttpWire extends Wire {
  readonly #url: string;
  #session: string | undefined;
  #version = "2025-11-25";

  constructor(server: Server, url: string) {
    super(server);
    this.#url = url;
  }

  /** A request fails if its server is killed. The test gets no message. */
  async send(message: Message): Promise<void> {
    try {
      await this.#post(message);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
  }

  async #post(message: Message): Promise<void> {
    if (message["method"] === "initialize") this.#version = message["params"].protocolVersion;
    const headers = this.#headersOf(message);
    const body = JSON.stringify(message);
    const response = await fetch(this.#url, { method: "POST", headers, body });
    const session = response.headers.get("mcp-session-id");
    if (session !== null) this.#session = session;
    if (response.headers.get("content-type") === "application/json") {
      this.add(await response.text());
      return;
    }
    let text = "";
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      const events = (text + chunk).split("\n\n");
      text = events.pop() ?? "";
      for (const event of events) {
        const data = /^data: (.*)$/m.exec(event)?.[1];
        if (data !== undefined) this.add(data);
      }
    }
  }

  #headersOf({ method, params }: Message): Record<string, string> {
    const version = params?._meta?.["io.modelcontextprotocol/protocolVersion"];
    return {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      ...(this.#session !== undefined && {
        "Mcp-Session-Id": this.#session,
        "MCP-Protocol-Version": this.#version,
      }),
      ...(version !== undefined && { "MCP-Protocol-Version": version, "Mcp-Method": method }),
      ...(version !== undefined && params.name !== undefined && { "Mcp-Name": params.name }),
    };
  }
}
