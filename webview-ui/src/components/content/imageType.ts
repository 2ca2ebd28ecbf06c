/** The kinds of images that are drawn. A browser decodes each in bounded time, and none can refer to other content. */
export type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

/** The first bytes of each kind of image. */
const signatures: readonly (readonly [type: ImageType, begins: (head: string) => boolean])[] = [
  ["image/png", (head) => head.startsWith("\x89PNG\r\n\x1a\n")],
  ["image/jpeg", (head) => head.startsWith("\xff\xd8\xff")],
  ["image/gif", (head) => head.startsWith("GIF87a") || head.startsWith("GIF89a")],
  ["image/webp", (head) => head.startsWith("RIFF") && head.slice(8, 12) === "WEBP"],
];

/** Returns the kind of an image by its first bytes, given as a text with one character for each byte. */
export function imageTypeOf(head: string): ImageType | undefined {
  return signatures.find(([, begins]) => begins(head))?.[0];
}

/** Returns the type and subtype of a media type, in lower case and without parameters; empty if it is invalid. */
export function essenceOf(mediaType: string): string {
  return /^\s*([\w!#$&^.+-]+\/[\w!#$&^.+-]+)\s*(;|$)/.exec(mediaType)?.[1]?.toLowerCase() ?? "";
}

/** Returns the kind of image to draw, by its first bytes: many servers declare another, or one that does not exist. */
export function drawableType(base64: string): ImageType | undefined {
  try {
    // 16 bytes, with room for line breaks
    return imageTypeOf(atob(base64.slice(0, 64).replace(/\s/g, "").slice(0, 24)));
  } catch {
    return undefined; // not base64
  }
}
