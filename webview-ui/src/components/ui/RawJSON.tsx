import * as l10n from "@vscode/l10n";
import { json } from "../../lib/format.ts";
import { visible } from "../../lib/visible.ts";
import { CopyIcon } from "./CopyIcon.tsx";
import { Disclosure } from "./Disclosure.tsx";

/** One JSON value, as it is shown and copied. */
export interface JSONPart {
  /** The value's name: "sampling/createMessage, params". */
  readonly label: string;
  /** The value. A number that a double does not hold is one that `parseExact` has read. */
  readonly value: unknown;
}

export interface RawJSONProps {
  /** The values, one below the other. Without any, nothing is drawn. */
  readonly parts: readonly JSONPart[];
  /** Names the disclosure in the view's state; unique in the panel. */
  readonly keep: string;
}

/**
 * Shows JSON as it was on the wire, closed at first. For what an ask asked and returned there is `AskJSON`, which
 * settled asks use too.
 */
export function RawJSON({ parts, keep }: RawJSONProps) {
  if (parts.length === 0) return null;
  return (
    <Disclosure keep={`${keep}:json`} summary={l10n.t("Show JSON")}>
      {parts.map((part) => (
        <Part key={part.label} {...part} />
      ))}
    </Disclosure>
  );
}

function Part({ label, value }: JSONPart) {
  const isCut = hasLongText(value);
  return (
    <div className="raw-json">
      <p className="turn-role">
        <span>{label}</span>
        <CopyIcon text={json(value)} label={l10n.t("Copy {0}", label)} />
      </p>
      <pre className="verbatim">{visible(json(isCut ? withShortTexts(value) : value))}</pre>
      {isCut && <p className="muted">{l10n.t("Long data is cut here. Copy gives all of it.")}</p>}
    </div>
  );
}

/** A text of more characters is cut where it is shown: a picture can have millions. */
const longest = 20_000;
const shownOfLong = 100;

function hasLongText(value: unknown): boolean {
  if (typeof value === "string") return value.length > longest;
  return typeof value === "object" && value !== null && Object.values(value).some(hasLongText);
}

function withShortTexts(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (_key, it: unknown) =>
    typeof it === "string" && it.length > longest ? `${it.slice(0, shownOfLong)}…` : it,
  );
}
