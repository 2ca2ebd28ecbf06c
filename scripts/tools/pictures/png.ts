import { crc32, deflateSync, inflateSync } from "node:zlib";

/** The pixels of a picture, row by row, each a 24-bit number of red, green and blue. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly colors: Uint32Array;
}

const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");

/** Decodes a PNG as browsers write it: 8 bits a channel, in colour, not interlaced. Ignores transparency. */
export function decodePng(png: Buffer): Pixels {
  const parts: Buffer[] = [];
  let header: Buffer = Buffer.alloc(0);
  for (let at = signature.length; at < png.length; ) {
    const end = at + 8 + png.readUInt32BE(at);
    const name = png.toString("latin1", at + 4, at + 8);
    if (name === "IHDR") header = png.subarray(at + 8, end);
    if (name === "IDAT") parts.push(png.subarray(at + 8, end));
    at = end + 4;
  }
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const size = new Map([
    [2, 3],
    [6, 4],
  ]).get(header[9] ?? 0); // bytes of a pixel
  if (header[8] !== 8 || size === undefined || header[12] !== 0) {
    throw new Error("this PNG is not one of a browser");
  }
  const bytes = unfiltered(inflateSync(Buffer.concat(parts)), width * size, size);
  const colors = Uint32Array.from({ length: width * height }, (_, pixel) =>
    bytes.readUIntBE(pixel * size, 3),
  );
  return { width, height, colors };
}

/** Takes back the filter of each row, https://www.w3.org/TR/png-3/#9Filters. */
function unfiltered(rows: Buffer, length: number, size: number): Buffer {
  const count = rows.length / (length + 1);
  const bytes = Buffer.alloc(count * length);
  for (let row = 0; row < count; row++) {
    const filter = rows[row * (length + 1)];
    for (let column = 0; column < length; column++) {
      const at = row * length + column;
      const left = column < size ? 0 : (bytes[at - size] ?? 0);
      const up = row === 0 ? 0 : (bytes[at - length] ?? 0);
      const corner = row === 0 || column < size ? 0 : (bytes[at - length - size] ?? 0);
      const predicted = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][filter ?? 0] ?? 0;
      bytes[at] = (rows[row * (length + 1) + 1 + column] ?? 0) + predicted;
    }
  }
  return bytes;
}

function paeth(left: number, up: number, corner: number): number {
  const [a, b, c] = [up - corner, left - corner, left + up - 2 * corner].map(Math.abs);
  if (a === undefined || b === undefined || c === undefined) return 0;
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

/** A part of an animation, drawn over the previous parts. */
export interface Frame {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Which colours of the palette its pixels have, row by row. */
  readonly indices: Uint8Array;
  /** How long it is shown. */
  readonly milliseconds: number;
}

/** Writes a PNG with at most 256 colours. The first frame is the whole picture; with others, it is an endless animation. */
export function encodePng(
  palette: readonly number[],
  frames: readonly Frame[],
  still: Frame | undefined = frames[0],
): Buffer {
  const [first] = frames;
  if (first === undefined || still === undefined) throw new Error("there is no picture");
  const chunks = [
    chunk("IHDR", uint32(first.width), uint32(first.height), Buffer.of(8, 3, 0, 0, 0)),
    chunk("PLTE", ...palette.map((color) => uint32(color).subarray(1))),
  ];
  let sequence = 0;
  if (frames.length > 1) chunks.push(chunk("acTL", uint32(frames.length), uint32(0)));
  // A picture before the first frame's control is no part of the animation.
  if (still !== first) chunks.push(chunk("IDAT", deflated(still)));
  for (const frame of frames) {
    const { x, y, width, height, milliseconds } = frame;
    if (frames.length > 1) {
      const place = [width, height, x, y].map(uint32);
      const delay = [uint16(milliseconds), uint16(1000), Buffer.of(0, 0)];
      chunks.push(chunk("fcTL", uint32(sequence++), ...place, ...delay));
    }
    const data = deflated(frame);
    if (frame === still) chunks.push(chunk("IDAT", data));
    else chunks.push(chunk("fdAT", uint32(sequence++), data));
  }
  return Buffer.concat([signature, ...chunks, chunk("IEND")]);
}

/** The rows of a frame. A filter would not make indices smaller. */
function deflated({ width, height, indices }: Frame): Buffer {
  const rows = Buffer.alloc(height * (width + 1));
  for (let row = 0; row < height; row++) {
    rows.set(indices.subarray(row * width, (row + 1) * width), row * (width + 1) + 1);
  }
  return deflateSync(rows, { level: 9, memLevel: 9 });
}

function chunk(name: string, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat([Buffer.from(name, "latin1"), ...parts]);
  return Buffer.concat([uint32(content.length - 4), content, uint32(crc32(content))]);
}

function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
