import { expect, test } from "vitest";
import { fromBase64, maxImage, maxText, readFile } from "./readFile.ts";

const bytes = (text: string) => Uint8Array.from(text, (character) => character.charCodeAt(0));

test.each([
  ["image/png", "\x89PNG\r\n\x1a\n..."],
  ["image/jpeg", "\xff\xd8\xff..."],
  ["image/gif", "GIF89a..."],
  ["image/webp", "RIFF1234WEBP..."],
])("a file is %s by its first bytes, with any name", (mimeType, begins) => {
  const file = readFile("a.txt", bytes(begins));
  expect(file.content).toMatchObject({ type: "image", mimeType });
  const { content } = file;
  expect(content.type === "image" && fromBase64(content.data)).toEqual(bytes(begins));
});

test("UTF-8 is text", () => {
  const text = "Grüße, 世界";
  expect(readFile("a.png", new TextEncoder().encode(text))).toEqual({
    name: "a.png",
    content: { type: "text", text },
  });
});

test.each<[string, Uint8Array, string]>([
  ["bytes", bytes("\xff\xfe\x00"), "a is neither text nor a PNG"],
  ["a zero", bytes("a\x00b"), "a is neither text nor a PNG"],
  [
    "much text",
    new Uint8Array(maxText + 1).fill(65),
    "a is 256.0 kB. A text may have up to 256.0 kB",
  ],
  [
    "very much",
    new Uint8Array(maxImage + 1),
    "a (3.8 MB) is too large: images may have up to 3.8 MB, texts up to 256.0",
  ],
])("%s is refused by its name, size and bound", (_, content, why) => {
  expect(() => readFile("a", content)).toThrow(why);
});
