import * as l10n from "@vscode/l10n";
import { useState } from "react";
import { visible } from "../../lib/visible.ts";

/** The most characters that are shown at first. */
const longest = 600;

/** A foreign text, shortened until the person expands it. */
export function LongText({ text }: { readonly text: string }) {
  const [all, setAll] = useState(false);
  if (text.length <= longest) return <p>{visible(text)}</p>;
  return (
    <p>
      {visible(all ? text : `${text.slice(0, longest)}…`)}{" "}
      <button type="button" className="link" aria-expanded={all} onClick={() => setAll(!all)}>
        {all ? l10n.t("Show less") : l10n.t("Show all")}
      </button>
    </p>
  );
}
