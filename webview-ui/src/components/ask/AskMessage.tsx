import * as l10n from "@vscode/l10n";
import { brief } from "../../lib/brief.ts";
import { firstLine, plain } from "../../timeline/subject.ts";
import { Markdown } from "../content/Markdown.tsx";
import { Clamp } from "../ui/Clamp.tsx";

export interface AskMessageProps {
  readonly askId: string;
  readonly serverName: string;
  readonly text: string;
  /** The first line of the text is the card's heading. A text that has no more is not said twice. */
  readonly headed?: boolean;
}

/** A server's message in its question. It is quoted, so that it cannot pass for Assent's own words. */
export function AskMessage({ askId, serverName, text, headed = false }: AskMessageProps) {
  const isHeading = headed && plain(text) === firstLine(text) && brief(text) === text;
  if (text === "" || isHeading) return null;
  return (
    <blockquote className="ask-message" aria-label={l10n.t("What {0} says", serverName)}>
      <Clamp keep={`message:${askId}`} text={text}>
        <Markdown text={text} />
      </Clamp>
    </blockquote>
  );
}
