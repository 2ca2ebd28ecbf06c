import type { ServerLogLine } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useState } from "react";
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

/** The number of lines that are shown at first, so that a page has one scroll area. */
const some = 20;

/** The server's latest lines of output, newest last. */
export function ServerLog({ serverName, lines, dropped }: ServerLogProps) {
  const [all, setAll] = useState(false);
  const texts = lines.map(inWords);
  return (
    <Part heading={l10n.t("Log")}>
      {lines.length === 0 ? (
        <p className="muted">{l10n.t("It has written nothing since Assent started.")}</p>
      ) : (
        <>
          {lines.length > some && (
            <button type="button" className="link" aria-expanded={all} onClick={() => setAll(!all)}>
              {all ? l10n.t("Show less") : l10n.t("Show all {0} lines", lines.length)}
            </button>
          )}
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
            className="verbatim server-log"
            role="log"
            aria-live="off"
            aria-label={l10n.t("Log of {0}", visible(serverName))}
          >
            {(all ? texts : texts.slice(-some)).join("\n")}
          </pre>
          <div className="actions">
            <CopyButton text={texts.join("\n")} label={l10n.t("Copy Log")} />
          </div>
        </>
      )}
    </Part>
  );
}

function inWords({ at, from, level = "", text }: ServerLogLine): string {
  const time = new Date(at).toLocaleTimeString([], { hourCycle: "h23" });
  return `${time} ${fromWords(from)}${level === "" ? "" : ` ${visible(level)}`} ${visible(text)}`;
}
