import type { CallRequest, CompleteParams, CompleteResult } from "@assent/protocol";

/** What the panes of the runner have in common. */
export interface PaneProps {
  readonly serverName: string;
  /** Nothing can be asked now. */
  readonly disabled: boolean;
  /** Resolves when the call has begun; rejects where it could not. */
  readonly onRun: (request: CallRequest) => Promise<void>;
}

/** Asks the server what an argument could be (2025-03-26 and later, "Completion"). */
export type CompleteArgument = (
  params: Omit<CompleteParams, "serverName">,
  signal: AbortSignal,
) => Promise<CompleteResult>;
