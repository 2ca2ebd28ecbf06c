import type { Field, Option } from "@assent/protocol";
import { brief } from "./brief.ts";

/** Returns the beginning of a field's title, with hidden characters visible. */
export function titleOf(field: Field): string {
  return brief(fullTitleOf(field));
}

/** Returns the title that the server gave a field, or else its name. */
export function fullTitleOf({ title, name }: Field): string {
  return title === undefined || title === "" ? name : title;
}

/** Returns the beginning of an option's title, or else of its value, with hidden characters visible. */
export function labelOf({ value, title }: Option): string {
  return brief(title === undefined || title === "" ? value : title);
}
