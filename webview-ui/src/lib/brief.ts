import { visible } from "./visible.ts";

/** The most characters of a brief text, about two lines. */
const longest = 300;

/** Shortens a foreign text, with its hidden characters visible. */
export function brief(text: string): string {
  return visible(text.length > longest ? `${text.slice(0, longest)}…` : text);
}
