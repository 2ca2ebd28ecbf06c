import * as l10n from "@vscode/l10n";
import { useState } from "react";
import { showsMore } from "../ui/Clamp.tsx";
import { Verbatim } from "./Verbatim.tsx";

export interface LongVerbatimProps {
  readonly text: string;
}

/** So many characters are drawn at first, and with each step. A browser lays out several times as many at once. */
const step = 20_000;

/** A verbatim text of any length. What is not drawn yet costs nothing. */
export function LongVerbatim({ text }: LongVerbatimProps) {
  const [length, setLength] = useState(step);
  if (text.length <= length) return <Verbatim text={text} />;
  return (
    <>
      <Verbatim text={withoutHalf(text.slice(0, length))} />
      <button
        type="button"
        className="link"
        {...showsMore}
        onClick={() => setLength(length + step)}
      >
        {l10n.t(
          "Show more ({0} of {1} characters are shown)",
          length.toLocaleString(),
          text.length.toLocaleString(),
        )}
      </button>
    </>
  );
}

/** Removes the first half of a character of which the other half was cut off. */
function withoutHalf(text: string): string {
  return /[\ud800-\udbff]$/.test(text) ? text.slice(0, -1) : text;
}
