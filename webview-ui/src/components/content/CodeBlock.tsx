import * as l10n from "@vscode/l10n";
import { useEffect, useState } from "react";
import { CopyIcon } from "../ui/CopyIcon.tsx";
import type { Piece } from "./highlight.ts";

export interface CodeBlockProps {
  readonly code: string;
  /** The language after the fence; undefined if there is none. */
  readonly language: string | undefined;
}

// Longer code has no highlighting, because it would block the panel.
const maxHighlighted = 20_000;

/** Code in a text, with a copy button. It is highlighted once its language has loaded. */
export function CodeBlock({ code, language }: CodeBlockProps) {
  const pieces = usePieces(code, language);
  return (
    <div className="code-block">
      <div className="code-head">
        <span className="muted">{language}</span>
        <CopyIcon text={code} label={l10n.t("Copy Code")} />
      </div>
      <pre>
        <code>
          {pieces === undefined
            ? code
            : pieces.map(({ text, kind }, index) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: a piece has no name but its place.
                <span key={index} className={kind}>
                  {text}
                </span>
              ))}
        </code>
      </pre>
    </div>
  );
}

function usePieces(code: string, language: string | undefined): readonly Piece[] | undefined {
  const [found, setFound] = useState<{
    readonly code: string;
    readonly pieces: readonly Piece[];
  }>();
  useEffect(() => {
    if (language === undefined || code.length > maxHighlighted) return undefined;
    let wanted = true;
    void (async () => {
      try {
        const { highlight } = await import("./highlight.ts");
        const pieces = await highlight(code, language);
        if (wanted && pieces !== undefined) setFound({ code, pieces });
      } catch {
        // Highlighting is optional: if its file cannot be loaded, the code stays plain.
      }
    })();
    return () => {
      wanted = false;
    };
  }, [code, language]);
  return found?.code === code ? found.pieces : undefined;
}
