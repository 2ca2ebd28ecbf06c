// A picture and a sound that are small and real.
// @ts-check

/** A PNG of eight by eight pixels, red above and blue below. */
const png =
  "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAF0lEQVR4nGP4z8CAFWEXJU+CqoZhlwAA6TA/wcv07EsAAAAASUVORK5CYII=";

/** The picture as a block of content. */
export function picture() {
  return { type: "image", data: png, mimeType: "image/png" };
}

/** A WAV of a tenth of a second of the note A, as a block of content. */
export function sound() {
  const rate = 8000;
  const samples = Buffer.from(
    Array.from({ length: rate / 10 }, (_, i) =>
      Math.round(128 + 100 * Math.sin((2 * Math.PI * 440 * i) / rate)),
    ),
  );
  const header = Buffer.alloc(44);
  header.write("RIFF", 0);
  header.writeUInt32LE(36 + samples.length, 4);
  header.write("WAVEfmt ", 8);
  header.writeUInt32LE(16, 16); // bytes of the format
  header.writeUInt16LE(1, 20); // PCM
  header.writeUInt16LE(1, 22); // of one channel
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(rate, 28); // bytes a second
  header.writeUInt16LE(1, 32); // bytes a sample
  header.writeUInt16LE(8, 34); // bits a sample
  header.write("data", 36);
  header.writeUInt32LE(samples.length, 40);
  const data = Buffer.concat([header, samples]).toString("base64");
  return { type: "audio", data, mimeType: "audio/wav" };
}
