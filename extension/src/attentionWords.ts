import type { AskWants, ListOpenAsksResult, OpenAsk } from "@assent/protocol";
import { named, visible } from "@assent/protocol/visible";
import * as l10n from "@vscode/l10n";
import { oneLine } from "./previewText.ts";

/** The most characters of a text in a notification. */
const longestText = 120;
const longestName = 60;

/** The parts of a question that a notification shows. */
interface Asked {
  readonly serverName: string;
  readonly wants: AskWants;
  readonly text?: string;
  readonly time: number;
}

/**
 * Says what waits for the person: the oldest question, with its server's name, and how many others wait. Undefined if
 * nothing waits.
 */
export function attentionText({
  asks = [],
  unattributed = [],
}: ListOpenAsksResult): string | undefined {
  const all: readonly Asked[] = [
    ...unattributed.filter(isTold),
    ...asks.filter(isTold).map((ask) => ({ ...ask, serverName: ask.origin.serverName })),
  ].toSorted((a, b) => a.time - b.time);
  const [first] = all;
  if (first === undefined) return undefined;
  const name = shown(first.serverName, longestName);
  const text = shown(first.text ?? "", longestText);
  const words = wanted(first.wants, name);
  const said = text === "" ? words : l10n.t("{0}: {1}", words, text);
  return all.length === 1 ? said : l10n.t("{0} (and {1} more)", said, all.length - 1);
}

/** A window notifies the person of its own workspace's questions. */
function isTold({ workspace, unattended = false }: Pick<OpenAsk, "workspace" | "unattended">) {
  return workspace === undefined || unattended;
}

function wanted(wants: AskWants, name: string): string {
  switch (wants) {
    case "mcp_elicitation":
      return l10n.t("{0} asks", name);
    case "mcp_url_elicitation":
      return l10n.t("{0} wants you to open a page", name);
    case "mcp_sampling":
      return l10n.t("{0} wants to ask a model", name);
    case "mcp_sampling_review":
      return l10n.t("Review the answer for {0}", name);
    case "use_mcp_tool":
      return l10n.t("A model wants to use a tool of {0}", name);
    case "use_mcp_tool_for_app":
      return l10n.t("{0}'s app wants to call a tool", name);
    case "access_mcp_resource":
      return l10n.t("A model wants to read a resource of {0}", name);
    case "repeat_mcp_call":
      return l10n.t("Call {0} again?", name);
    case "host_permission":
      return l10n.t("{0} asks for your permission", name);
    default:
      return wants satisfies never;
  }
}

/** Shortens a foreign text to one line, with its hidden characters visible. */
function shown(text: string, longest: number): string {
  const line = oneLine(text);
  const cut = [...line].length > longest ? `${[...line].slice(0, longest).join("")}…` : line;
  return visible(cut).replace(/\p{Co}/gu, named);
}
