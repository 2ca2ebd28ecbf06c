import { size } from "../../lib/format.ts";

/** Returns the decoded size of a base64 text, for a person. */
export function bytes(base64: string): string {
  return size(Math.floor((base64.replace(/=+$/, "").length * 3) / 4));
}
