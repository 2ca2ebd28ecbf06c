import type { ContentBlock, ToolResult } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useMemo, useState } from "react";
import { parseExact, writeExact } from "../../lib/exactJSON.ts";
import { json } from "../../lib/format.ts";
import { visible } from "../../lib/visible.ts";
import { CopyIcon } from "../ui/CopyIcon.tsx";
import { Disclosure } from "../ui/Disclosure.tsx";
import { Icon } from "../ui/Icon.tsx";
import { IconButton } from "../ui/IconButton.tsx";
import { JSONView } from "./JSONView.tsx";
import { LongVerbatim } from "./LongVerbatim.tsx";

export interface StructuredResultProps {
  readonly result: ToolResult;
  readonly parts: ShownParts;
  /** Names the part in the view's state; unique in the panel. */
  readonly keep: string;
}

/**
 * The structured content of a tool's result, as tables and a tree, or as JSON; and what of it is not as the tool
 * declares it. Without either, nothing is rendered.
 */
export function StructuredResult({ result, parts, keep }: StructuredResultProps) {
  const { structuredContent, structuredText, mismatches = [] } = result;
  return (
    <>
      {mismatches.length > 0 && <Mismatches sentences={mismatches} />}
      {parts.structured && (
        <Disclosure
          keep={`${keep}:structured`}
          summary={l10n.t("Structured result")}
          initiallyOpen={parts.content.length === 0}
        >
          <Structured {...{ structuredContent, structuredText, keep }} />
        </Disclosure>
      )}
    </>
  );
}

/** What of a result is shown, so that nothing is shown twice. */
export interface ShownParts {
  readonly content: readonly ContentBlock[];
  readonly structured: boolean;
}

/**
 * Chooses between the structured content and the texts that only repeat it. A single text or number, which some servers
 * wrap in an object, is shown as the text.
 */
export function shownParts(result: ToolResult): ShownParts {
  const { content = [], structuredContent, repeats = [] } = result;
  if (structuredContent === undefined) return { content, structured: false };
  if (repeats.length > 0 && isSingle(structuredContent)) return { content, structured: false };
  const repeating = new Set(repeats);
  return { content: content.filter((_, place) => !repeating.has(place)), structured: true };
}

function isSingle(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return true;
  const { result, ...others } = value as { readonly result?: unknown };
  return (
    result !== undefined &&
    Object.keys(others).length === 0 &&
    (typeof result !== "object" || result === null)
  );
}

function Mismatches({ sentences }: { readonly sentences: readonly string[] }) {
  return (
    <div className="mismatches">
      <p>
        <Icon name="warning" />
        <span>{l10n.t("The result is not what the tool declares:")}</span>
      </p>
      <ul>
        {sentences.map((sentence) => (
          <li key={sentence}>{visible(sentence)}</li>
        ))}
      </ul>
    </div>
  );
}

interface StructuredProps {
  readonly structuredContent: unknown;
  /** The text, if doubles cannot hold its numbers. */
  readonly structuredText: string | undefined;
  readonly keep: string;
}

function Structured({ structuredContent, structuredText, keep }: StructuredProps) {
  const [raw, setRaw] = useState(false);
  const value = useMemo(
    () => (structuredText === undefined ? structuredContent : parseExact(structuredText)),
    [structuredContent, structuredText],
  );
  // Only a value with exact numbers needs the exact writer, which indents at any depth.
  const text = useMemo(
    () => (structuredText === undefined ? json(value) : writeExact(value, 2)),
    [value, structuredText],
  );
  return (
    <div className="structured">
      <div className="structured-bar">
        <CopyIcon text={text} label={l10n.t("Copy as JSON")} />
        <IconButton
          icon="json"
          label={l10n.t("Raw JSON")}
          aria-pressed={raw}
          onClick={() => setRaw(!raw)}
        />
      </div>
      {raw ? <LongVerbatim text={text} /> : <JSONView value={value} keep={`${keep}:value`} />}
    </div>
  );
}
