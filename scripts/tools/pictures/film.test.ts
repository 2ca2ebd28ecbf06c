import { crc32, deflateSync, inflateSync } from "node:zlib";
import type { Locator } from "playwright-core";
import { expect, test } from "vitest";
import { Film } from "./film.ts";

type Chunk = readonly [name: string, content: Buffer];

/** A screenshot, of rows of colours. */
function screenshot(rows: readonly (readonly number[])[]): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(rows[0]?.length ?? 0, 0);
  header.writeUInt32BE(rows.length, 4);
  header.set([8, 2], 8);
  const bytes = rows.map((row) =>
    Buffer.from([0, ...row.flatMap((color) => [color >> 16, (color >> 8) & 255, color & 255])]),
  );
  const chunks: Chunk[] = [
    ["IHDR", header],
    ["IDAT", deflateSync(Buffer.concat(bytes))],
    ["IEND", Buffer.alloc(0)],
  ];
  const written = chunks.map(([name, content]) => {
    const ends = Buffer.alloc(8);
    ends.writeUInt32BE(content.length, 0);
    const named = Buffer.concat([Buffer.from(name), content]);
    ends.writeUInt32BE(crc32(named), 4);
    return Buffer.concat([ends.subarray(0, 4), named, ends.subarray(4)]);
  });
  return Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), ...written]);
}

function chunksOf(png: Buffer): readonly Chunk[] {
  const chunks: Chunk[] = [];
  for (let at = 8; at < png.length; ) {
    const end = at + 8 + png.readUInt32BE(at);
    expect(png.readUInt32BE(end)).toBe(crc32(png.subarray(at + 4, end)));
    chunks.push([png.toString("latin1", at + 4, at + 8), png.subarray(at + 8, end)]);
    at = end + 4;
  }
  return chunks;
}

type Picture = readonly (readonly number[])[];

const filmed = (...pictures: readonly Picture[]) => filmedWith(undefined, pictures);

async function filmedWith(still: Picture | undefined, pictures: readonly Picture[]) {
  const shots = pictures.map(screenshot);
  const part = { screenshot: async () => shots.shift() } as unknown as Locator;
  const film = new Film(part);
  for (const picture of pictures) await film.shoot(100, picture === still);
  return chunksOf(film.develop());
}

const [black, red, blue] = [0x000000, 0xff0000, 0x0000ff];
const dark = [
  [black, black, black],
  [black, black, black],
];

test("a film has what changes from picture to picture, and shows what does not for longer", async () => {
  const lit = [
    [black, black, black],
    [black, red, blue],
  ];
  const chunks = await filmed(dark, dark, lit);
  expect(chunks.map(([name]) => name)).toEqual([
    "IHDR",
    "PLTE",
    "acTL",
    "fcTL",
    "IDAT",
    "fcTL",
    "fdAT",
    "IEND",
  ]);
  const frames = chunks
    .filter(([name]) => name === "fcTL")
    .map(([, content]) => ({
      place: [4, 8, 12, 16].map((at) => content.readUInt32BE(at)),
      milliseconds: content.readUInt16BE(20),
    }));
  expect(frames).toEqual([
    { place: [3, 2, 0, 0], milliseconds: 200 },
    { place: [2, 1, 1, 1], milliseconds: 100 },
  ]);
  const palette = chunks[1]?.[1] ?? Buffer.alloc(0);
  const [, data = Buffer.alloc(0)] = chunks[6] ?? [];
  const [, ...indices] = inflateSync(data.subarray(4));
  expect(indices.map((index) => palette.readUIntBE(index * 3, 3))).toEqual([red, blue]);
});

test("a still is before the film, and no part of it", async () => {
  const lit = [
    [black, black, black],
    [black, red, blue],
  ];
  const chunks = await filmedWith(lit, [dark, lit]);
  expect(chunks.map(([name]) => name).join(" ")).toBe(
    "IHDR PLTE acTL IDAT fcTL fdAT fcTL fdAT IEND",
  );
  const palette = chunks[1]?.[1] ?? Buffer.alloc(0);
  const [, ...indices] = inflateSync(chunks[3]?.[1] ?? Buffer.alloc(0));
  expect(palette.readUIntBE((indices.at(-1) ?? 0) * 3, 3)).toBe(blue);
});

test("one picture is no animation, and rare colours beyond 256 become those near them", async () => {
  const row = Array.from({ length: 300 }, (_, at) => at * 0x10);
  const chunks = await filmed([row, row.slice(0, 256).concat(row.slice(0, 44))]);
  expect(chunks.map(([name]) => name)).toEqual(["IHDR", "PLTE", "IDAT", "IEND"]);
  expect(chunks[1]?.[1].length).toBe(256 * 3);
});
