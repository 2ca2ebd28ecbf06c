import type { SamplingUsage } from "@assent/protocol";
import { count, money } from "../ui/words.ts";

export interface SamplingUsageLineProps {
  readonly usage: SamplingUsage;
}

/** What a request came to, with every answer that was asked for. */
export function SamplingUsageLine({ usage }: SamplingUsageLineProps) {
  const { inputTokens, outputTokens, estimated = false, cost } = usage;
  const words = [
    `${count(inputTokens, "token")} in`,
    `${count(outputTokens, "token")} out`,
    ...(estimated ? ["estimated"] : []),
    ...(cost === undefined ? [] : [money(cost)]),
  ];
  return <p className="usage muted">{words.join(" · ")}</p>;
}
