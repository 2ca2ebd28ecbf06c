import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import { type Listening, listen } from "../loopback.ts";
import { type Asked, type Wire, wires } from "./wires.ts";

/** What a model does at its first turn. At the second one, it says what the tool returned. */
export interface Script {
  /** The end of the tool's name: hosts put the server's name in front. */
  readonly tool: string;
  readonly arguments: object;
}

/** A model on loopback that speaks the wires of all hosts and follows a script. */
export class ScriptedModel {
  /** What the tools returned, as the host showed it, one list for each request with tools. */
  readonly turns: (readonly string[])[] = [];
  /** What hosts asked for that it cannot answer. */
  readonly problems: string[] = [];
  readonly #script: Script;
  readonly #listening: Listening;

  private constructor(script: Script, listening: Listening) {
    this.#script = script;
    this.#listening = listening;
  }

  static async start(script: Script): Promise<ScriptedModel> {
    const server = createServer((request, response) => {
      model.#serve(request, response).catch((error: Error) => {
        model.problems.push(`${request.method} ${request.url}: ${error.message}`);
        response.destroy();
      });
    });
    const model = new ScriptedModel(script, await listen(server));
    return model;
  }

  get url(): string {
    return this.#listening.url;
  }

  stop(): Promise<void> {
    return this.#listening.stop();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url?.replace(/\?.*/, "") ?? "";
    const wire = wires.find((wire) => path.endsWith(wire.path));
    if (wire === undefined || request.method !== "POST") {
      this.problems.push(`${request.method} ${request.url}`);
      response.writeHead(404).end();
      return;
    }
    response.setHeader("Content-Type", "text/event-stream");
    for (const data of this.#answer(wire, wire.read(await json(request)))) {
      if (typeof data !== "string" && "type" in data) response.write(`event: ${data.type}\n`);
      response.write(`data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`);
    }
    response.end();
  }

  #answer(wire: Wire, { tools, results }: Asked): ReturnType<Wire["say"]> {
    // Hosts also have their model name the conversation, for which they offer no tools.
    if (tools.length === 0) return wire.say("A test");
    this.turns.push(results);
    if (results.length > 0) return wire.say(`The tool returned: ${results.join("\n")}`);
    const tool = tools.find(({ name }) => name.endsWith(this.#script.tool));
    if (tool === undefined) {
      const names = tools.map(({ name }) => name).join(", ");
      return wire.say(`There is no tool ${this.#script.tool}, only ${names}`);
    }
    return wire.call(tool, this.#script.arguments);
  }
}
