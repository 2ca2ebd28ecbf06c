import type { Locator } from "playwright-core";
import { decodePng, encodePng, type Frame, type Pixels } from "./png.ts";

interface Shot {
  readonly png: Buffer;
  readonly milliseconds: number;
  /** Shown where the film cannot move. */
  readonly isStill?: boolean;
}

/** Films a part of a page, picture by picture. */
export class Film {
  readonly #part: Locator;
  readonly #shots: Shot[] = [];

  constructor(part: Locator) {
    this.#part = part;
  }

  /** Adds a screenshot, shown for this duration. The one that is still is shown where the film cannot move. */
  async shoot(milliseconds: number, isStill = false): Promise<void> {
    const png = await this.#part.screenshot({ animations: "disabled" });
    this.#shots.push({ png, milliseconds, isStill });
  }

  /** The film as an animated PNG; one picture as a still. */
  develop(): Buffer {
    return developed(this.#shots);
  }
}

/** A screenshot with at most 256 colours, which has half the bytes or fewer. */
export function reduced(png: Buffer): Buffer {
  return developed([{ png, milliseconds: 0 }]);
}

function developed(shots: readonly Shot[]): Buffer {
  const pictures = shots.map(({ png }) => decodePng(png));
  const palette = paletteOf(pictures);
  const indexOf = indexer(palette);
  const frames: Frame[] = [];
  let before: Uint8Array | undefined;
  let still: Frame | undefined;
  for (const [at, { width, height, colors }] of pictures.entries()) {
    const indices = Uint8Array.from(colors, indexOf);
    const milliseconds = shots[at]?.milliseconds ?? 0;
    if (shots[at]?.isStill) still = { x: 0, y: 0, width, height, indices, milliseconds: 0 };
    const changed = changedPart({ width, height }, indices, before);
    const last = frames.at(-1);
    if (changed !== undefined) frames.push({ ...changed, milliseconds });
    else if (last !== undefined) {
      frames[frames.length - 1] = { ...last, milliseconds: last.milliseconds + milliseconds };
    }
    before = indices;
  }
  return encodePng(palette, frames, still);
}

/** The colours that most pixels have. The others are at the edges of letters, and one near them does as well. */
function paletteOf(pictures: readonly Pixels[]): readonly number[] {
  const counts = new Map<number, number>();
  for (const { colors } of pictures) {
    for (const color of colors) counts.set(color, (counts.get(color) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return sorted.slice(0, 256).map(([color]) => color);
}

/** Returns the index of the nearest colour in the palette. */
function indexer(palette: readonly number[]): (color: number) => number {
  const known = new Map(palette.map((color, index) => [color, index]));
  const distance = (a: number, b: number): number =>
    [16, 8, 0].reduce((sum, bits) => sum + (((a >> bits) & 255) - ((b >> bits) & 255)) ** 2, 0);
  return (color) => {
    const found = known.get(color);
    if (found !== undefined) return found;
    const distances = palette.map((other) => distance(color, other));
    const nearest = distances.indexOf(Math.min(...distances));
    known.set(color, nearest);
    return nearest;
  };
}

/** The rectangle in which a picture differs from the one before it, all of it at first; undefined if they are equal. */
function changedPart(
  { width, height }: { readonly width: number; readonly height: number },
  indices: Uint8Array,
  before: Uint8Array | undefined,
): Omit<Frame, "milliseconds"> | undefined {
  if (before === undefined) return { x: 0, y: 0, width, height, indices };
  let [left, top, right, bottom] = [width, height, 0, 0];
  for (const [at, index] of indices.entries()) {
    if (before[at] === index) continue;
    const [x, y] = [at % width, Math.floor(at / width)];
    [left, right] = [Math.min(left, x), Math.max(right, x + 1)];
    [top, bottom] = [Math.min(top, y), Math.max(bottom, y + 1)];
  }
  if (right === 0) return undefined;
  const size = { width: right - left, height: bottom - top };
  const part = new Uint8Array(size.width * size.height);
  for (let row = 0; row < size.height; row++) {
    const from = (top + row) * width + left;
    part.set(indices.subarray(from, from + size.width), row * size.width);
  }
  return { ...size, x: left, y: top, indices: part };
}
