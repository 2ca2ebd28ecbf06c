import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";

/** A row of the table: a measurement, and its reference. */
export interface Row {
  readonly what: string;
  readonly unit: string;
  /** Of each round. */
  readonly figure: readonly number[];
  readonly reference?: Reference;
  /** The bar for the ratio. */
  readonly atMost?: number;
}

export interface Reference {
  readonly is: string;
  /** Of the same rounds. */
  readonly figure: readonly number[];
}

/** Returns the value below which the part q of the sample lies. */
export function quantile(sample: readonly number[], q: number): number {
  const sorted = sample.toSorted((a, b) => a - b);
  return sorted[Math.min(Math.floor(q * sorted.length), sorted.length - 1)] ?? 0;
}

/** Summarises a sample. */
const spreadOf = (rounds: readonly number[]) => ({
  median: quantile(rounds, 0.5),
  min: Math.min(...rounds),
  max: Math.max(...rounds),
  rounds,
});

/** What of a row is compared within each round. */
const ratiosOf = ({ figure, reference }: Row): readonly number[] =>
  (reference?.figure ?? []).map((other, round) => (figure[round] ?? Number.NaN) / other);

const isMet = (row: Row): boolean | undefined =>
  row.atMost === undefined ? undefined : quantile(ratiosOf(row), 0.5) <= row.atMost;

/** Prints a table as scripts/bench/table.go does. */
export function print(group: string, rows: readonly Row[]): void {
  console.log("\n| what | | figure | reference | | ratio | bar | met |");
  console.log("|---|---|---|---|---|---|---|---|");
  console.log(`| **${group}** | | | | | | | |`);
  const said = (rounds: readonly number[], digits: number): string => {
    const { median, min, max } = spreadOf(rounds);
    return `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`;
  };
  for (const row of rows) {
    const { what, unit, figure, reference, atMost } = row;
    const compared =
      reference === undefined
        ? ["", "", ""]
        : [reference.is, said(reference.figure, 1), said(ratiosOf(row), 3)];
    const bar = atMost === undefined ? ["", ""] : [`≤ ${atMost}`, isMet(row) ? "yes" : "no"];
    console.log(`| ${[what, unit, said(figure, 1), ...compared, ...bar].join(" | ")} |`);
  }
}

/** Adds rows to a report, which scripts/bench/report.go describes. Creates the file if it is missing. */
export async function addTo(file: string, group: string, rows: readonly Row[]): Promise<void> {
  let report: { rows: unknown[] } = { rows: [] };
  if (existsSync(file)) report = JSON.parse(await readFile(file, "utf8")) as typeof report;
  for (const row of rows) {
    const { what, unit, figure, reference, atMost } = row;
    report.rows.push({
      ...{ group, what, unit },
      figure: spreadOf(figure),
      ...(reference !== undefined && {
        reference: spreadOf(reference.figure),
        referenceIs: reference.is,
        ratio: spreadOf(ratiosOf(row)),
      }),
      ...(atMost !== undefined && { atMost, met: isMet(row) }),
    });
  }
  await writeFile(file, `${JSON.stringify(report, undefined, 2)}\n`);
}
