import type { ServerLogLine } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { plural } from "../../lib/l10n.ts";
import { visible } from "../../lib/visible.ts";
import { CopyButton } from "../ui/CopyButton.tsx";
import { Part } from "./Part.tsx";
import { fromWords } from "./serverWords.ts";

export interface ServerLogProps {
  readonly serverName: string;
  readonly lines: readonly ServerLogLine[];
  /** The number of dropped lines. */
  readonly dropped: number;
}

/** The server's latest lines of output, newest last. */
export function ServerLog({ serverName, lines, dropped }: ServerLogProps) {
  const text = lines.map(inWords).join("\n");
  return (
    <Part heading={l10n.t("Log")}>
      {lines.length === 0 ? (
        <p className="muted">{l10n.t("It has written nothing since Assent started.")}</p>
      ) : (
        <>
          {dropped > 0 && (
            <p className="muted">
              {plural(
                dropped,
                l10n.t("1 older line was dropped."),
                l10n.t("{0} older lines were dropped."),
              )}
            </p>
          )}
          <pre
            ref={toEnd}
            className="verbatim server-log"
            role="log"
            aria-live="off"
            aria-label={l10n.t("Log of {0}", visible(serverName))}
            // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, by the keyboard too.
            tabIndex={0}
          >
            {text}
          </pre>
          <div className="actions">
            <CopyButton text={text} label={l10n.t("Copy Log")} />
          </div>
        </>
      )}
    </Part>
  );
}

/** Scrolls to the newest lines. */
function toEnd(element: HTMLElement | null): void {
  if (element !== null) element.scrollTop = element.scrollHeight;
}

function inWords({ at, from, level = "", text }: ServerLogLine): string {
  const time = new Date(at).toLocaleTimeString([], { hourCycle: "h23" });
  return `${time} ${fromWords(from)}${level === "" ? "" : ` ${visible(level)}`} ${visible(text)}`;
}
