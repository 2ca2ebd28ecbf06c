import type { UseMcpServer } from "@assent/protocol";
import { useMemo } from "react";
import { RawJSON } from "../ui/RawJSON.tsx";
import { askJSON } from "./askJSON.ts";

export interface AskJSONProps {
  readonly question: UseMcpServer;
  /** The answer did not reach the server. */
  readonly undelivered?: boolean;
  /** Names the row in the view's state; unique in the panel. */
  readonly keep: string;
}

/** Shows a question and its answer as JSON, for open and settled asks. It is closed at first. */
export function AskJSON({ question, undelivered, keep }: AskJSONProps) {
  const parts = useMemo(() => askJSON(question, undelivered), [question, undelivered]);
  return <RawJSON {...{ parts, keep }} />;
}
