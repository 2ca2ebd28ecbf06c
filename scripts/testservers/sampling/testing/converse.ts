// One way to call a tool for every revision and transport, with a model that the test plays.
import { fileURLToPath } from "node:url";
import type { LegacyClient, ModernClient } from "../../kit/testing/clients.ts";
import type { Message } from "../../kit/testing/inbox.ts";
import { callTool, connect, type Transport } from "../../kit/testing/talk.ts";
import type { Wire } from "../../kit/testing/wires.ts";

export const program = fileURLToPath(new URL("../../sampling.mjs", import.meta.url));

const legacyEras = ["2024-11-05", "2025-06-18", "2025-11-25"] as const;
export const modernEra = "2026-07-28" as const;
export const eras = [...legacyEras, modernEra] as const;
export type Era = (typeof eras)[number];

/** Every revision on every transport that it has. */
export const everywhere: readonly (readonly [Era, Transport])[] = [
  ...eras.map((era) => [era, "stdio"] as const),
  ...(["2025-06-18", "2025-11-25", modernEra] as const).map((era) => [era, "http"] as const),
];

/** The answer to the params of a request: a result, or an error, which only sessions can send. */
export type Model = (params: Message, nth: number) => Message | { readonly error: Message };

export interface Talk {
  readonly wire: Wire;
  /** The client, for everything except tool calls. */
  readonly client: LegacyClient | ModernClient;
  /** Calls a tool, and plays the model: what the tool returned, and the params that it sent. */
  call(name: string, args?: Message, model?: Model): Promise<Called>;
}

export interface Called {
  readonly result: Message;
  /** The text of the result, which is JSON except for errors of the tool itself. */
  readonly json: Message;
  readonly asked: readonly Message[];
}

export async function open(
  era: Era,
  transport: Transport = "stdio",
  capabilities: Message = { sampling: {} },
): Promise<Talk> {
  const { wire, client } = await connect(program, [], era, transport, capabilities);
  return { wire, client, call: (...call) => callWith(client, ...call) };
}

const noModel: Model = () => {
  throw new Error("the tool was not expected to ask");
};

async function callWith(
  client: LegacyClient | ModernClient,
  name: string,
  args: Message = {},
  model: Model = noModel,
): Promise<Called> {
  const asked: Message[] = [];
  const result = await callTool(client, { name, arguments: args }, (method, params) => {
    if (method !== "sampling/createMessage") throw new Error(`it asks for ${method}`);
    asked.push(params);
    return model(params, asked.length);
  });
  const { text } = result["content"][0];
  return { result, json: text.startsWith("{") ? JSON.parse(text) : { text }, asked };
}
