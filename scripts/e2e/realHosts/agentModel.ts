import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { message } from "./wires.ts";

/** What the model does at a prompt. */
export interface Deed {
  readonly tool: string;
  readonly input: object;
  /** The plan that it writes first, into the file that Claude Code names. */
  readonly plan?: string;
}

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly name?: string;
  readonly content?: unknown;
}

interface Body {
  readonly messages?: readonly {
    readonly role: string;
    readonly content: string | readonly Block[];
  }[];
  readonly tools?: readonly { readonly name: string }[];
}

/** A model of Claude Code on loopback. At each prompt that it knows it uses a tool once, and then it says that it is done. */
export class AgentModel {
  /** What it was told after each use: the result, or why there is none. */
  readonly told = new Map<string, string>();
  readonly #deeds = new Map<string, Deed>();
  #answers = 0;
  readonly #server = createServer((request, response) => {
    this.#serve(request, response).catch(() => response.destroy());
  });

  static async start(): Promise<AgentModel> {
    const model = new AgentModel();
    model.#server.listen(0, "127.0.0.1");
    await once(model.#server, "listening");
    return model;
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}`;
  }

  async stop(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, "close");
  }

  /** Has it do something, and returns the prompt for that. */
  will(deed: Deed): string {
    const prompt = `Deed number ${this.#deeds.size + 1}.`;
    this.#deeds.set(prompt, deed);
    return prompt;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== "POST" || !request.url?.split("?")[0]?.endsWith("/messages")) {
      response.writeHead(404).end();
      return;
    }
    const answer = this.#answer((await json(request)) as Body);
    response.setHeader("Content-Type", "text/event-stream");
    for (const event of answer) {
      response.write(`event: ${(event as { type: string }).type}\n`);
      response.write(`data: ${JSON.stringify(event)}\n\n`);
    }
    response.end();
  }

  #answer({ messages = [], tools = [] }: Body): readonly object[] {
    this.#answers += 1;
    const id = `message-${this.#answers}`;
    const answered = messages.findLastIndex(({ role }) => role === "assistant");
    const blocks: readonly (readonly Block[])[] = messages.map(({ content }) =>
      typeof content === "string" ? [{ type: "text", text: content }] : content,
    );
    const said = blocks.flat();
    const prompt = [...this.#deeds.keys()].findLast((prompt) =>
      said.some(({ text = "" }) => text.includes(prompt)),
    );
    const deed = prompt === undefined ? undefined : this.#next(prompt, tools, said);
    const result = blocks
      .slice(answered + 1)
      .flat()
      .find(({ type }) => type === "tool_result");
    if (prompt !== undefined && result !== undefined && deed === undefined) {
      this.told.set(prompt, JSON.stringify(result.content));
    }
    if (deed === undefined) {
      const delta = { type: "text_delta", text: "It is done." };
      return message({ type: "text", text: "" }, delta, "end_turn", id);
    }
    return message(
      { type: "tool_use", id: `call-${this.#answers}`, name: deed.tool, input: {} },
      { type: "input_json_delta", partial_json: JSON.stringify(deed.input) },
      "tool_use",
      id,
    );
  }

  /** What it does next; nothing after its deed, and where it may not do it. */
  #next(prompt: string, tools: Body["tools"], said: readonly Block[]): Deed | undefined {
    const has = (name: string) => tools?.some((tool) => tool.name === name) === true;
    const used = (name: string) => said.some((block) => block.name === name);
    const deed = this.#deeds.get(prompt);
    if (deed === undefined || used(deed.tool) || !has("Bash")) return undefined;
    const file = /\/\S+\/plans\/\S+\.md/.exec(JSON.stringify(said))?.[0];
    if (deed.plan !== undefined && file !== undefined && !used("Write")) {
      return { tool: "Write", input: { file_path: file, content: deed.plan } };
    }
    // The servers of Claude Code may start after its first prompt. It asks nothing before such a command.
    return has(deed.tool) ? deed : { tool: "Bash", input: { command: "ls", description: "Wait" } };
  }
}
