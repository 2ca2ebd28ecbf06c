// A picture and a sound that are made here, so that no file has to be kept.
// @ts-check
import { crc32, deflateSync } from "node:zlib";

/**
 * Returns a PNG file with a bar chart.
 * @param {number} size its width and height in pixels
 * @param {string} color of the bars, as #rrggbb
 */
export function chart(size, color) {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) =>
    Number.parseInt(color.slice(at, at + 2), 16),
  );
  const heights = [0.3, 0.55, 0.45, 0.9];
  const rows = Array.from({ length: size }, (_, y) => {
    const pixels = Array.from({ length: size }, (_, x) => {
      const bar = heights[Math.floor((x * heights.length) / size)] ?? 0;
      const isGap = (x * heights.length) % size > size * 0.75;
      return !isGap && y >= size * (1 - bar) ? [red, green, blue, 255] : [0, 0, 0, 0];
    });
    return [0, ...pixels.flat()];
  });
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  header.set([8, 6, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(Buffer.from(rows.flat()))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/**
 * @param {string} type
 * @param {Buffer} data
 */
function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(data.length, 0);
  ends.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
}

/** Returns a WAV file with a second of a low tone. */
export function sound() {
  const rate = 8000;
  const samples = Buffer.from(
    Array.from(
      { length: rate },
      (_, at) => 128 + Math.round(60 * Math.sin((at * 440 * 2 * Math.PI) / rate)),
    ),
  );
  const header = Buffer.alloc(44);
  header.write("RIFF", 0, "latin1");
  header.writeUInt32LE(36 + samples.length, 4);
  header.write("WAVEfmt ", 8, "latin1");
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate, 28);
  header.writeUInt16LE(1, 32);
  header.writeUInt16LE(8, 34);
  header.write("data", 36, "latin1");
  header.writeUInt32LE(samples.length, 40);
  return Buffer.concat([header, samples]);
}
