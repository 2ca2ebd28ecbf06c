import type { CallRequest, CompleteParams, CompleteResult } from "@assent/protocol";

/** The props that the runner's panes share. */
export interface PaneProps {
  readonly serverName: string;
  /** No request can be sent now. */
  readonly disabled: boolean;
  /** Resolves when the call has started. Rejects if it could not start. */
  readonly onRun: (request: CallRequest) => Promise<void>;
}

/** Requests suggestions for an argument (2025-03-26 and later, "Completion"). */
export type CompleteArgument = (
  params: Omit<CompleteParams, "serverName">,
  signal: AbortSignal,
) => Promise<CompleteResult>;
