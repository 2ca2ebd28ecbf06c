import { visible } from "./visible.ts";

/** More than a line or two of it belongs elsewhere. */
const longest = 300;

/** The beginning of a stranger's text, with everything in it to be seen. */
export function brief(text: string): string {
  return visible(text.length > longest ? `${text.slice(0, longest)}…` : text);
}
