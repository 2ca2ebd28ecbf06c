// A client for every revision, on its own database. The test plays its model and person.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import type { LegacyClient, ModernClient } from "../../kit/testing/clients.ts";
import type { Message } from "../../kit/testing/inbox.ts";
import { callTool, connect, says, type Transport } from "../../kit/testing/talk.ts";
import type { Wire } from "../../kit/testing/wires.ts";

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
    transport: Transport = "stdio",
  ): Promise<Talk> {
    const { wire, client } = await connect(program, args, era, transport, capabilities);
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
    const result = await callTool(this.client, params, play);
    const progress = this.wire.inbox.rest.filter((it) => it["method"] === "notifications/progress");
    const text = result["content"].map((block: Message) => block["text"]).join("\n");
    return { result, text, asked, progress: progress.map((it) => it["params"]) };
  }
}

/** A model that says one thing of the risk and another in the note. */
export function model(
  risk = "MEDIUM: some have orders.",
  note = "Thirty users were deleted.",
): Play {
  return ({ systemPrompt }) => says(systemPrompt.includes("audit") ? note : risk);
}

/** A person who confirms. Their answers can be changed. */
export function confirms(content: Message = {}): Play {
  return () => ({
    action: "accept",
    content: { confirm: true, reason: "the yearly clean-up", keep_backup: true, ...content },
  });
}

/** The content of a file, as another program reads it. */
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
