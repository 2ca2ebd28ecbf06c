const endSignature = 0x06054b50;
const entrySignature = 0x02014b50;

/** Reads the Unix modes of a zip archive's files from its central directory. */
export function fileModes(zip: Buffer): ReadonlyMap<string, number> {
  const modes = new Map<string, number>();
  const end = zip.lastIndexOf(littleEndian(endSignature));
  if (end < 0) throw new Error("not a zip archive");
  let at = zip.readUInt32LE(end + 16);
  while (at < end && zip.readUInt32LE(at) === entrySignature) {
    const nameLength = zip.readUInt16LE(at + 28);
    const extraLength = zip.readUInt16LE(at + 30);
    const commentLength = zip.readUInt16LE(at + 32);
    const name = zip.toString("utf8", at + 46, at + 46 + nameLength);
    // The upper half of the external attributes is what Unix keeps in st_mode.
    modes.set(name, zip.readUInt16LE(at + 40));
    at += 46 + nameLength + extraLength + commentLength;
  }
  return modes;
}

function littleEndian(signature: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(signature);
  return bytes;
}
