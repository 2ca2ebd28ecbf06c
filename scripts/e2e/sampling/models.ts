import { EventEmitter, once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import type { ModelSettings } from "@assent/protocol";
import { waitLimit } from "../eventually.ts";
import { type Listening, listen } from "../loopback.ts";

/** The wires on which the models are reached. */
export const wires = ["vllm", "anthropic"] as const;
export type Wire = (typeof wires)[number];

/**
 * The models: one that calls tools; one that is not known to call tools; one that writes the beginning of an answer and
 * then waits until it is stopped; and five faulty ones.
 */
const names = ["caller", "plain", "slow", "rubbish", "cut", "empty", "busy", "gone"] as const;
type Name = (typeof names)[number];

/** The faults. */
export type Fault = "rubbish" | "cut" | "empty" | "busy" | "gone";

/** The beginning of the answer of the slow model. */
export const beginning = "Once upon a time";

/** A request to a model: its body on the wire. */
export interface Prompted {
  readonly wire: Wire;
  readonly model: string;
  readonly body: Chat;
}

/** The part of a body that both wires have, and that a test looks at. */
export interface Chat {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly unknown[];
  readonly tool_choice?: unknown;
  readonly [member: string]: unknown;
}

/** Models on loopback that record and return the requests that they got. */
export class Models {
  readonly prompted: Prompted[] = [];
  /** How many answers were stopped before their end. */
  stopped = 0;
  readonly #changes = new EventEmitter();
  readonly #listening: Listening;

  private constructor(listening: Listening) {
    this.#listening = listening;
  }

  static async start(): Promise<Models> {
    const server = createServer((request, response) => {
      models.#serve(request, response).catch((error: Error) => response.destroy(error));
    });
    const models = new Models(await listen(server));
    return models;
  }

  get settings(): ModelSettings {
    return {
      provider: "vllm",
      endpoints: wires.map((provider) => ({
        provider,
        baseUrl: `${this.#listening.url}/${provider}`,
        models: names,
      })),
      table: [{ match: "caller", tools: true, images: true }],
      allowed: [{ serverName: "toolless", models: ["*:plain"] }],
    };
  }

  /** The last request. */
  get last(): Prompted {
    const last = this.prompted.at(-1);
    if (last === undefined) throw new Error("no model was asked");
    return last;
  }

  /** Waits until so many answers were stopped. */
  async untilStopped(count: number): Promise<void> {
    const signal = AbortSignal.timeout(waitLimit);
    while (this.stopped < count) await once(this.#changes, "stopped", { signal });
  }

  stop(): Promise<void> {
    return this.#listening.stop();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const wire = wires.find((name) => request.url?.startsWith(`/${name}/`)) ?? "vllm";
    const body = JSON.parse(await text(request)) as Chat;
    const model = String(body["model"]) as Name;
    this.prompted.push({ wire, model, body });
    if (model === "gone") {
      response.destroy();
      return;
    }
    if (model === "busy") {
      const error = { type: "rate_limit_error", message: "Come back later" };
      response.writeHead(429, { "Retry-After": "7", "Content-Type": "application/json" });
      response.end(JSON.stringify({ error }));
      return;
    }
    const events = wire === "vllm" ? chatCompletions(response) : messages(response);
    switch (model) {
      case "rubbish":
        events.text("I am about to");
        response.end("data: {this is no JSON\n\n");
        return;
      case "cut":
        events.text("I am about to");
        response.socket?.end(); // when that is sent
        return;
      case "empty":
        events.end("stop");
        return;
      case "slow":
        events.text(beginning);
        await once(response, "close");
        this.stopped++;
        this.#changes.emit("stopped");
        return;
      default:
        answer(body, events);
    }
  }
}

/** How an answer is written. */
interface Events {
  text(piece: string): void;
  call(index: number, id: string, name: string, input: string): void;
  end(reason: "stop" | "tools"): void;
}

/** Calls every offered tool that has no result yet; otherwise repeats the last text. */
function answer(body: Chat, events: Events): void {
  const returned = body.messages.some(({ role, content }) => role === "tool" || hasResult(content));
  const choice = JSON.stringify(body.tool_choice ?? "");
  if (body.tools === undefined || returned || choice.includes("none")) {
    events.text("You said: ");
    events.text(JSON.stringify(body.messages.at(-1)?.content));
    events.end("stop");
    return;
  }
  events.text("Let me look.");
  events.call(0, "use-1", "get_weather", '{"city":"Paris"}');
  events.call(1, "use-2", "get_time", '{"zone":"Europe/Paris"}');
  events.end("tools");
}

function hasResult(content: unknown): boolean {
  return Array.isArray(content) && content.some(({ type }) => type === "tool_result");
}

/** OpenAI's chat completions. */
function chatCompletions(response: ServerResponse): Events {
  const send = (delta: object, finish_reason: string | null = null): void => {
    const data = { model: "model-of-vllm", choices: [{ index: 0, delta, finish_reason }] };
    response.write(`data: ${JSON.stringify(data)}\n\n`);
  };
  response.setHeader("Content-Type", "text/event-stream");
  return {
    text: (content) => send({ content }),
    call: (index, id, name, whole) => {
      // The arguments come in pieces.
      const piece = (args: string) => ({ index, function: { arguments: args } });
      send({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] });
      send({ tool_calls: [piece(whole.slice(0, 5))] });
      send({ tool_calls: [piece(whole.slice(5))] });
    },
    end: (reason) => {
      send({}, reason === "stop" ? "stop" : "tool_calls");
      const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
      response.write(`data: ${JSON.stringify({ choices: [], usage })}\n\n`);
      response.end("data: [DONE]\n\n");
    },
  };
}

/** Anthropic's messages. */
function messages(response: ServerResponse): Events {
  const send = (type: string, members: object): void => {
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`);
  };
  response.setHeader("Content-Type", "text/event-stream");
  const usage = { input_tokens: 11, output_tokens: 1 };
  send("message_start", { message: { model: "model-of-anthropic", usage } });
  return {
    text: (piece) => send("content_block_delta", { index: 0, delta: { text: piece } }),
    call: (i, id, name, whole) => {
      const index = i + 1;
      send("content_block_start", { index, content_block: { type: "tool_use", id, name } });
      for (const partial_json of [whole.slice(0, 5), whole.slice(5)]) {
        send("content_block_delta", { index, delta: { type: "input_json_delta", partial_json } });
      }
    },
    end: (reason) => {
      const stop_reason = reason === "stop" ? "end_turn" : "tool_use";
      send("message_delta", { delta: { stop_reason }, usage: { output_tokens: 7 } });
      send("message_stop", {});
      response.end();
    },
  };
}
