import type { AskWants, OpenAsk } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { filled } from "../../l10n.ts";
import { unreachable } from "../../unreachable.ts";
import { during } from "../ask/origin.ts";
import { brief } from "../ui/brief.ts";
import { Icon } from "../ui/Icon.tsx";
import { ago } from "../ui/words.ts";

export interface OpenAskLineProps {
  readonly ask: OpenAsk;
  readonly now: number;
  /** The question is answered in the list. */
  readonly inPlace: boolean;
}

/** What the card of each kind says, with the server's name at {0}, and its icon. */
export function wanted(wants: AskWants): { readonly icon: string; readonly words: string } {
  switch (wants) {
    case "mcp_elicitation":
      return { icon: "question", words: l10n.t("{0} asks") };
    case "mcp_url_elicitation":
      return { icon: "link-external", words: l10n.t("{0} wants you to open a page") };
    case "mcp_sampling":
      return { icon: "sparkle", words: l10n.t("{0} wants to ask a model") };
    case "mcp_sampling_review":
      return { icon: "eye", words: l10n.t("Review the answer for {0}") };
    case "use_mcp_tool":
      return { icon: "tools", words: l10n.t("A model wants to use a tool of {0}") };
    case "access_mcp_resource":
      return { icon: "file", words: l10n.t("A model wants to read a resource of {0}") };
    case "repeat_mcp_call":
      return { icon: "debug-restart", words: l10n.t("Call {0} once more?") };
    default:
      return unreachable(wants);
  }
}

/** An open question in a list: who asks, what about, since when, and during what. */
export function OpenAskLine({ ask, now, inPlace }: OpenAskLineProps) {
  const { origin, wants, text = "", time } = ask;
  const { icon, words } = wanted(wants);
  const occasion = during(origin);
  return (
    <>
      <span className="mcp-task-line">
        <Icon name={icon} />
        <span className="task-line-title muted">
          {filled(words, <strong className="name">{origin.serverName}</strong>)}
        </span>
      </span>
      {text !== "" && (
        <span className={`mcp-task-more ${inPlace ? "ask-whole-text" : "mcp-task-says"}`}>
          {brief(text)}
        </span>
      )}
      <span className="mcp-task-more muted">
        {ago(now - time)}
        {occasion !== undefined && `, ${brief(occasion)}`}
      </span>
      {!inPlace && <span className="mcp-task-more ask-open">{l10n.t("Open")}</span>}
    </>
  );
}
