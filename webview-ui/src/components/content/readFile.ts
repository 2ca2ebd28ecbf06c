import type { AttachedFile } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { size } from "../../lib/format.ts";
import { imageTypeOf } from "./imageType.ts";

/** The most bytes of an image and of a text, as in the sidecar. */
export const maxImage = 3_932_160;
export const maxText = 256 * 1024;

/** Says why a file is not attached, in a sentence that names it. */
export class FileRefusal extends Error {
  override readonly name = "FileRefusal";
}

/** Refuses a file that is too large for any kind, before it is read. */
export function checkSize(name: string, bytes: number): void {
  if (bytes <= maxImage) return;
  throw new FileRefusal(
    l10n.t(
      "{0} ({1}) is too large: images may have up to {2}, texts up to {3}.",
      name,
      size(bytes),
      size(maxImage),
      size(maxText),
    ),
  );
}

/** Reads a file as an image or a text, by its content and not its name. Throws a {@link FileRefusal}. */
export function readFile(name: string, bytes: Uint8Array): AttachedFile {
  checkSize(name, bytes.length);
  const mimeType = imageTypeOf(String.fromCharCode(...bytes.subarray(0, 16)));
  if (mimeType !== undefined) {
    return { name, content: { type: "image", mimeType, data: toBase64(bytes) } };
  }
  const text = textOf(bytes);
  if (text === undefined) {
    throw new FileRefusal(l10n.t("{0} is neither text nor a PNG, JPEG, GIF or WebP image.", name));
  }
  if (bytes.length > maxText) {
    throw new FileRefusal(
      l10n.t("{0} is {1}. A text may have up to {2}.", name, size(bytes.length), size(maxText)),
    );
  }
  return { name, content: { type: "text", text } };
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

/** How many bytes are converted at once. Each one is an argument of a call. */
const chunk = 8192;

function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += chunk) {
    binary += String.fromCharCode(...bytes.subarray(at, at + chunk));
  }
  return btoa(binary);
}

/** Decodes a base64 text. */
export function fromBase64(data: string): Uint8Array {
  return Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
}
