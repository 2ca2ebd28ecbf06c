/**
 * The panel's texts in the person's language. Code calls `l10n.t("…")` of @vscode/l10n with the English text as the
 * key, and `npm run format` collects these calls. A call at the top of a module would run before the host's bundle is
 * loaded, so there is none.
 */
import { config } from "@vscode/l10n";
import { createElement, Fragment, type ReactNode } from "react";

/** Loads the translations that the host wrote into its page. Without them, all texts are English. */
export function loadTexts(body: HTMLElement): void {
  const { texts } = body.dataset;
  if (texts !== undefined) config({ contents: readBundle(texts) });
}

/** Returns the valid translations of a bundle. A damaged bundle is reported, and the texts are English. */
function readBundle(texts: string): Record<string, string> {
  let bundle: unknown;
  try {
    bundle = JSON.parse(texts);
  } catch (error) {
    reportError(new Error("the page's translations are no JSON", { cause: error }));
  }
  if (typeof bundle !== "object" || bundle === null) return {};
  return Object.fromEntries(
    Object.entries(bundle).flatMap(([key, value]) => {
      const text = textOf(value);
      return text === undefined ? [] : [[key, text]];
    }),
  );
}

/** A text may have a comment for translators. */
function textOf(value: unknown): string | undefined {
  const text =
    typeof value === "object" && value !== null && "message" in value ? value.message : value;
  return typeof text === "string" ? text : undefined;
}

type Value = string | number | boolean;

/**
 * Returns the text for one, or the text for another number, with the number at {0} and the values from {1} on:
 *
 *     plural(n, l10n.t("1 file of {1}"), l10n.t("{0} files of {1}"), name)
 */
export function plural(n: number, one: string, many: string, ...values: readonly Value[]): string {
  const all = [n.toLocaleString(), ...values];
  return (n === 1 ? one : many).replace(place, (written, at) => String(all[Number(at)] ?? written));
}

/**
 * Puts elements at a text's placeholders, which a translation may reorder:
 *
 *     filled(l10n.t("{0} asks you"), <b>{name}</b>)
 */
export function filled(text: string, ...nodes: readonly ReactNode[]): ReactNode {
  // Every other piece is the number of a placeholder. Each is a separate child, so none needs a key.
  const pieces = text
    .split(place)
    .map((piece, index) => (index % 2 === 0 ? piece : nodes[Number(piece)]));
  return createElement(Fragment, null, ...pieces);
}

/** A placeholder for a value: {0}, {1}, … */
const place = /\{(\d+)\}/g;

/** Joins items: "a, b, and c". */
export function listed(things: readonly string[]): string {
  return new Intl.ListFormat(document.documentElement.lang || "en", { type: "conjunction" }).format(
    things,
  );
}
