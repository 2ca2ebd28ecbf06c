/** A section of a txtar archive. */
export interface Section {
  readonly name: string;
  readonly text: string;
}

/** Parses a txtar archive. The text before the first section is its comment. */
export function parseTxtar(archive: string): readonly Section[] {
  const sections: { name: string; lines: string[] }[] = [];
  for (const line of archive.split("\n")) {
    const name = /^-- (.+) --\s*$/.exec(line)?.[1];
    if (name !== undefined) sections.push({ name: name.trim(), lines: [] });
    else sections.at(-1)?.lines.push(line);
  }
  return sections.map(({ name, lines }) => ({ name, text: lines.join("\n") }));
}
