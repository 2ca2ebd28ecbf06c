import * as l10n from "@vscode/l10n";
import { visible } from "../../lib/visible.ts";
import { belowFirstLine, plain } from "../../timeline/subject.ts";
import { Markdown } from "../content/Markdown.tsx";
import { Clamp } from "../ui/Clamp.tsx";
import { Disclosure } from "../ui/Disclosure.tsx";

export interface AskMessageProps {
  readonly askId: string;
  readonly serverName: string;
  readonly text: string;
  /** The first line of the text is the card's heading, and is not said twice. */
  readonly headed?: boolean;
}

/** A server's message in its question. It is quoted, so that it cannot pass for Assent's own words. */
export function AskMessage({ askId, serverName, text: whole, headed = false }: AskMessageProps) {
  const text = headed ? belowFirstLine(whole) : whole;
  if (text === "") return null;
  return (
    <blockquote className="ask-message" aria-label={l10n.t("What {0} says", serverName)}>
      <Clamp keep={`message:${askId}`} text={text}>
        <Markdown text={text} />
      </Clamp>
    </blockquote>
  );
}

/** What a server says about its tool or resource: one line, which opens. */
export function Description({ askId, serverName, text }: Omit<AskMessageProps, "headed">) {
  if (text.trim() === "") return null;
  return (
    <Disclosure
      keep={`description:${askId}`}
      summary={
        <>
          {l10n.t("{0} says:", visible(serverName))} <q>{plain(text)}</q>
        </>
      }
    >
      <AskMessage {...{ askId, serverName, text }} />
    </Disclosure>
  );
}
