import * as l10n from "@vscode/l10n";
import { brief } from "../../lib/brief.ts";

/** Where a server's question comes from, as far as that is known. */
export interface Occasion {
  /** The calls during which the server asks; several if it does not say which one. */
  readonly toolNames?: readonly string[] | undefined;
  /** The resource that is being read. */
  readonly resourceUri?: string | undefined;
}

/** Says during what a server asks; empty if it asks without a call. */
export function during({ toolNames = [], resourceUri }: Occasion): string | undefined {
  if (resourceUri !== undefined) return l10n.t("while {0} is read", brief(resourceUri));
  const [only, ...others] = toolNames;
  if (only === undefined) return undefined;
  return others.length === 0
    ? l10n.t("during the tool call {0}", brief(only))
    : l10n.t("during one of the tool calls {0}", toolNames.map(brief).join(", "));
}
