// A client for every revision, whose model and person the test plays, on a database of the test's own.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { LegacyClient, ModernClient } from "../../kit/testing/clients.ts";
import type { Message } from "../../kit/testing/inbox.ts";
import { httpWire, stdioWire, type Wire } from "../../kit/testing/wires.ts";

export const program = fileURLToPath(new URL("../../smart-database.mjs", import.meta.url));

export const eras = ["2025-06-18", "2025-11-25", "2026-07-28"] as const;
export type Era = (typeof eras)[number];

/** The answer to a request of the server: a result, or an error, which only sessions can send. */
export type Play = (params: Message) => Message | { readonly error: Message };

export interface Players {
  readonly model?: Play;
  readonly person?: Play;
}

export interface Called {
  readonly result: Message;
  readonly text: string;
  /** The requests of the server, in order. */
  readonly asked: readonly { readonly method: string; readonly params: Message }[];
  readonly progress: readonly Message[];
}

export const everything = { sampling: {}, elicitation: {} };

/** A folder that a test has to itself, with the path of a database that is not there yet. */
export async function newFolder(): Promise<{
  file: string;
  folder: string;
  remove(): Promise<void>;
}> {
  const folder = await mkdtemp(join(tmpdir(), "smart-database-"));
  const remove = () => rm(folder, { recursive: true });
  return { folder, file: join(folder, "users.db"), remove };
}

/** One server and its client. */
export class Talk {
  readonly wire: Wire;
  readonly client: LegacyClient | ModernClient;

  private constructor(wire: Wire, client: LegacyClient | ModernClient) {
    this.wire = wire;
    this.client = client;
  }

  static async open(
    era: Era,
    args: readonly string[],
    capabilities: Message = everything,
    transport: "stdio" | "http" = "stdio",
  ): Promise<Talk> {
    const start = transport === "stdio" ? stdioWire : httpWire;
    const wire = await start(program, ["--era", era, ...args]);
    if (era !== "2026-07-28") {
      return new Talk(wire, await LegacyClient.open(wire, era, capabilities));
    }
    const client = new ModernClient(wire);
    client.capabilities = capabilities;
    return new Talk(wire, client);
  }

  /** Calls a tool, and plays who is asked. */
  async call(name: string, args: Message = {}, players: Players = {}): Promise<Called> {
    const asked: { method: string; params: Message }[] = [];
    const play = (method: string, params: Message): Message => {
      asked.push({ method, params });
      const player = method === "sampling/createMessage" ? players.model : players.person;
      if (player === undefined) throw new Error(`nobody was expected to be asked: ${method}`);
      return player(params);
    };
    const params = { name, arguments: args, _meta: { progressToken: "p" } };
    const { client } = this;
    const result =
      client instanceof LegacyClient
        ? await this.#callLegacy(client, params, play)
        : await this.#callModern(client, params, play);
    const progress = this.wire.inbox.rest.filter((it) => it["method"] === "notifications/progress");
    const text = result["content"].map((block: Message) => block["text"]).join("\n");
    return { result, text, asked, progress: progress.map((it) => it["params"]) };
  }

  async #callLegacy(
    client: LegacyClient,
    params: Message,
    play: (method: string, params: Message) => Message,
  ): Promise<Message> {
    const id = client.begin("tools/call", params);
    for (;;) {
      const message = await client.inbox.take(
        (it) => it["id"] !== undefined && (it["method"] !== undefined || it["id"] === id),
      );
      if (message["method"] === undefined) {
        if (message["error"] !== undefined) throw new Error(JSON.stringify(message["error"]));
        return message["result"];
      }
      const answer = play(message["method"], message["params"]);
      const { error } = answer;
      if (error === undefined) await client.answer(message, answer);
      else await client.refuse(message, error["code"], error["message"]);
    }
  }

  async #callModern(
    client: ModernClient,
    params: Message,
    play: (method: string, params: Message) => Message,
  ): Promise<Message> {
    let more: Message = {};
    for (;;) {
      const result = await client.request("tools/call", { ...params, ...more });
      if (result["resultType"] !== "input_required") return result;
      const { inputRequests, requestState } = result;
      const inputResponses = Object.fromEntries(
        Object.entries<Message>(inputRequests).map(([key, { method, params }]) => [
          key,
          play(method, params),
        ]),
      );
      more = { requestState, inputResponses };
    }
  }
}

/** A model's words. */
export function says(text: string): Message {
  return {
    role: "assistant",
    content: { type: "text", text },
    model: "played",
    stopReason: "endTurn",
  };
}

/** A model that says one thing of the risk and another in the note. */
export function model(
  risk = "MEDIUM: some have orders.",
  note = "Thirty users were deleted.",
): Play {
  return ({ systemPrompt }) => says(systemPrompt.includes("audit") ? note : risk);
}

/** A person who confirms; what they say can be changed. */
export function confirms(content: Message = {}): Play {
  return () => ({
    action: "accept",
    content: { confirm: true, reason: "the yearly clean-up", keep_backup: true, ...content },
  });
}

/** What is in a file, read as another program reads it. */
export function look(file: string) {
  const database = new DatabaseSync(file, { readOnly: true });
  try {
    const count = (table: string): number =>
      Number(database.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"]);
    return {
      users: count("users"),
      trash: count("trash"),
      audit: database
        .prepare("SELECT * FROM audit")
        .all()
        .map((row) => ({ ...row }) as Message),
      intact: database.prepare("PRAGMA integrity_check").get()?.["integrity_check"] === "ok",
    };
  } finally {
    database.close();
  }
}
