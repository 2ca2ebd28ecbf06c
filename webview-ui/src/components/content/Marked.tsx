import type { SecretFinding } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { createContext, useContext } from "react";
import { visible } from "../../lib/visible.ts";
import { formsOf } from "../../timeline/secrets.ts";

/** The possible secrets in the texts below. */
export const SecretsContext = createContext<readonly SecretFinding[]>([]);

/** A verbatim text with its secrets marked. */
export function Marked({ text }: { readonly text: string }) {
  const secrets = useContext(SecretsContext);
  return piecesOf(text, secrets).map(({ text: piece, secret }, index) =>
    secret === undefined ? (
      visible(piece)
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: a piece has no name but its place.
      <mark key={index} className="secret" title={secret.description}>
        <span className="visually-hidden">{l10n.t("looks like {0}:", secret.description)} </span>
        {visible(piece)}
      </mark>
    ),
  );
}

/** Reports whether a text has something to mark. */
export function useHasSecret(text: string): boolean {
  const secrets = useContext(SecretsContext);
  return secrets.some((secret) => formsOf(secret).some((form) => text.includes(form)));
}

interface Piece {
  readonly text: string;
  readonly secret?: SecretFinding;
}

function piecesOf(text: string, secrets: readonly SecretFinding[]): readonly Piece[] {
  return secrets
    .toSorted((a, b) => b.text.length - a.text.length)
    .reduce<readonly Piece[]>(
      (pieces, secret) =>
        formsOf(secret).reduce(
          (now, form) =>
            now.flatMap((piece) =>
              piece.secret === undefined ? split(piece, form, secret) : piece,
            ),
          pieces,
        ),
      [{ text }],
    );
}

function split({ text }: Piece, form: string, secret: SecretFinding): readonly Piece[] {
  return text
    .split(form)
    .flatMap((piece, index): readonly Piece[] =>
      index === 0 ? [{ text: piece }] : [{ text: form, secret }, { text: piece }],
    );
}
