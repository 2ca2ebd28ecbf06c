// One way to call a tool for every revision and transport, with a model that the test plays.
import { fileURLToPath } from "node:url";
import { LegacyClient, ModernClient } from "../../kit/testing/clients.ts";
import type { Message } from "../../kit/testing/inbox.ts";
import * as wires from "../../kit/testing/wires.ts";

export const program = fileURLToPath(new URL("../../sampling.mjs", import.meta.url));

const legacyEras = ["2024-11-05", "2025-06-18", "2025-11-25"] as const;
export const modernEra = "2026-07-28" as const;
export const eras = [...legacyEras, modernEra] as const;
export type Era = (typeof eras)[number];

/** Every revision on every transport that it has. */
export const everywhere: readonly (readonly [Era, "stdio" | "http"])[] = [
  ...eras.map((era) => [era, "stdio"] as const),
  ...(["2025-06-18", "2025-11-25", modernEra] as const).map((era) => [era, "http"] as const),
];

/** The answer to the params of a request: a result, or an error, which only sessions can send. */
export type Model = (params: Message, nth: number) => Message | { readonly error: Message };

export interface Talk {
  readonly wire: wires.Wire;
  /** The client, for what is no call of a tool. */
  readonly client: LegacyClient | ModernClient;
  /** Calls a tool, and plays the model: what the tool returned, and the params that it sent. */
  call(name: string, args?: Message, model?: Model): Promise<Called>;
}

export interface Called {
  readonly result: Message;
  /** The text of the result, which is JSON but for errors of the tool itself. */
  readonly json: Message;
  readonly asked: readonly Message[];
}

export async function open(
  era: Era,
  transport: "stdio" | "http" = "stdio",
  capabilities: Message = { sampling: {} },
): Promise<Talk> {
  const start = transport === "stdio" ? wires.stdioWire : wires.httpWire;
  const wire = await start(program, ["--era", era]);
  if (era === modernEra) {
    const client = new ModernClient(wire);
    client.capabilities = capabilities;
    return { wire, client, call: (...call) => callModern(client, ...call) };
  }
  const client = await LegacyClient.open(wire, era, capabilities);
  return { wire, client, call: (...call) => callLegacy(client, ...call) };
}

/** An answer of a model in words. */
export function words(text: string, stopReason = "endTurn"): Message {
  return { role: "assistant", content: { type: "text", text }, model: "played", stopReason };
}

const noModel: Model = () => {
  throw new Error("the tool was not expected to ask");
};

async function callLegacy(
  client: LegacyClient,
  name: string,
  args: Message = {},
  model: Model = noModel,
): Promise<Called> {
  const id = client.begin("tools/call", { name, arguments: args });
  const asked: Message[] = [];
  for (;;) {
    const message = await client.inbox.take(
      (it) => it["method"] === "sampling/createMessage" || it["id"] === id,
    );
    if (message["method"] === undefined) return read(message, asked);
    asked.push(message["params"]);
    const answer = model(message["params"], asked.length);
    const { error } = answer as { error?: Message };
    if (error === undefined) await client.answer(message, answer);
    else await client.refuse(message, error["code"], error["message"]);
  }
}

async function callModern(
  client: ModernClient,
  name: string,
  args: Message = {},
  model: Model = noModel,
): Promise<Called> {
  const asked: Message[] = [];
  let more: Message = {};
  for (;;) {
    const response = await client.respond("tools/call", { name, arguments: args, ...more });
    if (response["result"]?.resultType !== "input_required") return read(response, asked);
    const { inputRequests, requestState } = response["result"];
    const answers = Object.entries<Message>(inputRequests).map(([key, { method, params }]) => {
      if (method !== "sampling/createMessage") throw new Error(`it asks for ${method}`);
      asked.push(params);
      return [key, model(params, asked.length)];
    });
    more = { requestState, inputResponses: Object.fromEntries(answers) };
  }
}

function read({ result, error }: Message, asked: readonly Message[]): Called {
  if (error !== undefined) throw new Error(JSON.stringify(error));
  const { text } = result.content[0];
  return { result, json: text.startsWith("{") ? JSON.parse(text) : { text }, asked };
}
