import type { OpenAsk } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { brief } from "../../lib/brief.ts";
import { ago } from "../../lib/format.ts";
import { filled } from "../../lib/l10n.ts";
import { wanted } from "../ask/askTitle.tsx";
import { during } from "../ask/origin.ts";
import { Icon } from "../ui/Icon.tsx";

export interface OpenAskLineProps {
  readonly ask: OpenAsk;
  readonly now: number;
  /** The question can be answered in the list. */
  readonly inPlace: boolean;
}

/** An open question in a list: who asks what, since when, and during what. */
export function OpenAskLine({ ask, now, inPlace }: OpenAskLineProps) {
  const { origin, wants, text = "", time } = ask;
  const { icon, words } = wanted(wants);
  const occasion = during(origin);
  const asks = filled(words, <span className="name">{origin.serverName}</span>);
  return (
    <>
      <span className="mcp-task-line">
        <Icon name={icon} />
        {text === "" ? (
          <span className="task-line-title">{asks}</span>
        ) : (
          <strong className={inPlace ? "name ask-whole-text" : "task-line-title"}>
            {brief(text)}
          </strong>
        )}
      </span>
      {text !== "" && <span className="mcp-task-more muted">{asks}</span>}
      <span className="mcp-task-more muted">
        {ago(now - time)}
        {occasion !== undefined && `, ${brief(occasion)}`}
      </span>
      {!inPlace && <span className="mcp-task-more ask-open">{l10n.t("Open")}</span>}
    </>
  );
}
