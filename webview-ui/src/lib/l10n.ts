/**
 * The panel's texts in the person's language. Whoever shows a text says `l10n.t("…")` of @vscode/l10n, with the
 * English text as the key; `npm run format` collects these calls, and finds no others. What a call gives is
 * read when it is made, so none stands at the top of a module, where the host's bundle is not there yet.
 */
import { config } from "@vscode/l10n";
import { createElement, Fragment, type ReactNode } from "react";

/** Takes the translations that the host wrote into its page; without them, all texts are English. */
export function loadTexts(body: HTMLElement): void {
  const { texts } = body.dataset;
  if (texts !== undefined) config({ contents: readBundle(texts) });
}

/** Whatever of a bundle is a translation. A damaged one is told, and costs nothing but the language. */
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

/** A text that has a comment for translators may stand with it. */
function textOf(value: unknown): string | undefined {
  const text =
    typeof value === "object" && value !== null && "message" in value ? value.message : value;
  return typeof text === "string" ? text : undefined;
}

type Value = string | number | boolean;

/**
 * The text for one, or that for any other number, with the number at {0} and the values from {1} on:
 *
 *     plural(n, l10n.t("1 file of {1}"), l10n.t("{0} files of {1}"), name)
 */
export function plural(n: number, one: string, many: string, ...values: readonly Value[]): string {
  const all = [n.toLocaleString(), ...values];
  return (n === 1 ? one : many).replace(place, (written, at) => String(all[Number(at)] ?? written));
}

/**
 * A text with elements at its places, which a translation may put into another order:
 *
 *     filled(l10n.t("{0} asks you"), <b>{name}</b>)
 */
export function filled(text: string, ...nodes: readonly ReactNode[]): ReactNode {
  // Every other piece is the number of a place. Each is a child of its own, which needs no key, as a list's would.
  const pieces = text
    .split(place)
    .map((piece, index) => (index % 2 === 0 ? piece : nodes[Number(piece)]));
  return createElement(Fragment, null, ...pieces);
}

/** A place for a value: {0}, {1}, … */
const place = /\{(\d+)\}/g;

/** Several things in a sentence: "a, b, and c". */
export function listed(things: readonly string[]): string {
  return new Intl.ListFormat(document.documentElement.lang || "en", { type: "conjunction" }).format(
    things,
  );
}
