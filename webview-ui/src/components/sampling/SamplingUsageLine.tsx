import type { SamplingUsage } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { money } from "../../lib/format.ts";
import { plural } from "../../lib/l10n.ts";

export interface SamplingUsageLineProps {
  readonly usage: SamplingUsage;
}

/** The usage of a request, summed over all requested answers. */
export function SamplingUsageLine({ usage }: SamplingUsageLineProps) {
  const { inputTokens, outputTokens, estimated = false, cost } = usage;
  const words = [
    plural(inputTokens, l10n.t("1 token in"), l10n.t("{0} tokens in")),
    plural(outputTokens, l10n.t("1 token out"), l10n.t("{0} tokens out")),
    ...(estimated ? [l10n.t("estimated")] : []),
    ...(cost === undefined ? [] : [money(cost)]),
  ];
  return <p className="usage muted">{words.join(" · ")}</p>;
}
