import type { ContentBlock } from "@assent/protocol";
import { Diff } from "../ui/Diff.tsx";
import { told } from "./SamplingChanges.tsx";

export interface AnswerChangesProps {
  readonly written: readonly ContentBlock[];
  readonly sent: readonly ContentBlock[];
  readonly keep: string;
}

/** The person's changes to a model's answer: its texts, the arguments of its calls, and removed parts. */
export function AnswerChanges({ written, sent, keep }: AnswerChangesProps) {
  const [before, after] = [written, sent].map((blocks) => blocks.map(told).join("\n\n"));
  return <Diff before={before ?? ""} after={after ?? ""} keep={`${keep}:diff`} />;
}
