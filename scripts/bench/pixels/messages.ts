/** A message of JSON-RPC, of MCP or of the panel. */
export interface Message {
  readonly id?: number | string | undefined;
  readonly method?: string | undefined;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** What the server reports of a question: when it wrote it and read the answer, and the answer. */
export interface Asked {
  readonly written: number;
  readonly read: number;
  readonly result: unknown;
}

/** What a daemon answered a panel that was loaded, by the method. */
export type Recording = Readonly<Record<string, unknown>>;
