/** The kinds of images that are drawn. A browser decodes each in bounded time, and none can refer to anything. */
export type ImageType = "image/png" | "image/jpeg" | "image/gif" | "image/webp";

/** How each kind of image begins. */
const signatures: readonly (readonly [type: ImageType, begins: (head: string) => boolean])[] = [
  ["image/png", (head) => head.startsWith("\x89PNG\r\n\x1a\n")],
  ["image/jpeg", (head) => head.startsWith("\xff\xd8\xff")],
  ["image/gif", (head) => head.startsWith("GIF87a") || head.startsWith("GIF89a")],
  ["image/webp", (head) => head.startsWith("RIFF") && head.slice(8, 12) === "WEBP"],
];

/** The kind of image that begins with these bytes, given as a text of one character for each byte. */
export function imageTypeOf(head: string): ImageType | undefined {
  return signatures.find(([, begins]) => begins(head))?.[0];
}

/** The type and subtype of a media type, in lower case and without parameters; empty where it is none. */
export function essenceOf(mediaType: string): string {
  return /^\s*([\w!#$&^.+-]+\/[\w!#$&^.+-]+)\s*(;|$)/.exec(mediaType)?.[1]?.toLowerCase() ?? "";
}

/**
 * The kind of image to draw of what a server or a model sent: the one that its bytes begin with, and only where its
 * media type is one of these kinds as well.
 */
export function drawableType(mediaType: string, base64: string): ImageType | undefined {
  const essence = essenceOf(mediaType);
  if (!signatures.some(([type]) => type === essence)) return undefined;
  try {
    // 16 bytes, and room for line breaks among them.
    return imageTypeOf(atob(base64.slice(0, 64).replace(/\s/g, "").slice(0, 24)));
  } catch {
    return undefined; // not base64
  }
}
