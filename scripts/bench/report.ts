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

/** What of a row is compared within each round. */
const ratiosOf = ({ figure, reference }: Row): readonly number[] =>
  (reference?.figure ?? []).map((other, round) => (figure[round] ?? Number.NaN) / other);

const spreadOf = (rounds: readonly number[], digits: number): string => {
  const [median, min, max] = [quantile(rounds, 0.5), Math.min(...rounds), Math.max(...rounds)];
  return `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`;
};

/** Prints a table as scripts/bench/table.go does. */
export function print(group: string, rows: readonly Row[]): void {
  console.log("\n| what | | figure | reference | | ratio | bar | met |");
  console.log("|---|---|---|---|---|---|---|---|");
  console.log(`| **${group}** | | | | | | | |`);
  for (const row of rows) {
    const { what, unit, figure, reference, atMost } = row;
    const ratios = ratiosOf(row);
    const compared =
      reference === undefined
        ? ["", "", ""]
        : [reference.is, spreadOf(reference.figure, 1), spreadOf(ratios, 3)];
    const met = quantile(ratios, 0.5) <= (atMost ?? 0) ? "yes" : "no";
    const bar = atMost === undefined ? ["", ""] : [`≤ ${atMost}`, met];
    console.log(`| ${[what, unit, spreadOf(figure, 1), ...compared, ...bar].join(" | ")} |`);
  }
}
