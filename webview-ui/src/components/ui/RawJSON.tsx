import * as l10n from "@vscode/l10n";
import { json } from "../../lib/format.ts";
import { visible } from "../../lib/visible.ts";
import { CopyIcon } from "./CopyIcon.tsx";
import { Disclosure } from "./Disclosure.tsx";

/** A JSON value to show and copy. */
export interface JSONPart {
  /** The value's name: "sampling/createMessage, params". */
  readonly label: string;
  /** The value. For numbers that a double cannot hold, it comes from `parseExact`. */
  readonly value: unknown;
}

export interface RawJSONProps {
  /** The values, one below the other. Without values, nothing is rendered. */
  readonly parts: readonly JSONPart[];
  /** Names the disclosure in the view's state; unique in the panel. */
  readonly keep: string;
}

/**
 * Shows JSON as on the wire. It is closed at first. `AskJSON` does the same for asks.
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
      {isCut && (
        <p className="muted">{l10n.t("Long data is shortened here. Copy copies all of it.")}</p>
      )}
    </div>
  );
}

/** A longer text is cut, because an image can have millions of characters. */
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
