// What the Go benchmarks allocate, compared with the figures that are committed. Unlike time, that is the same on
// every machine, however busy it is.
import { glob, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { output } from "../tools/lib/command.ts";
import { root } from "../tools/lib/paths.ts";

/** Of one operation. */
interface Cost {
  readonly bytes: number;
  readonly allocs: number;
}

/** By package and benchmark: `sidecar/workspace/rpc BenchmarkCall`. */
export type Costs = Readonly<Record<string, Cost>>;

const file = join(import.meta.dirname, "allocations.json");

/**
 * Patterns of `go test -skip` for two kinds of benchmarks. Some do much preparation or work, so only their time
 * matters. In others many act at once, so their allocations depend on how many came together.
 */
const skipped = [
  "AtOnce$",
  "^BenchmarkAnswer$/^history=100000$",
  "^BenchmarkSaveAndRecord$/^history=10000$",
  "^BenchmarkChange$",
  "^BenchmarkOpen$",
  "^BenchmarkOpenAsks$",
  "^BenchmarkScan$",
];

/** Enough runs that setup does not show. Other variation is excluded by taking the least of several. */
const iterations = 500;
const times = 3;

export const howToUpdate = "npm run bench -- --update-allocations";

/** Fails if a benchmark's allocations differ from the committed ones, and names it. */
export async function checkAllocations(): Promise<void> {
  const complaints = compare(JSON.parse(await readFile(file, "utf8")) as Costs, await measure());
  if (complaints.length === 0) return;
  throw new Error(`${complaints.join("\n")}\nWhere that is as it should be: ${howToUpdate}`);
}

/** Makes the current measurements the committed ones. */
export async function updateAllocations(): Promise<void> {
  await writeFile(file, `${JSON.stringify(await measure(), undefined, 2)}\n`);
}

async function measure(): Promise<Costs> {
  const flags = ["-run", "^$", "-bench", ".", "-skip", skipped.join("|"), "-benchmem"];
  const sizes = ["-benchtime", `${iterations}x`, "-count", `${times}`, "-cpu", "1"];
  const packages = await withBenchmarks();
  const text = await output("go", ["test", "-timeout", "120s", ...flags, ...sizes, ...packages], {
    // A collection empties the pools, whenever it comes.
    env: { GOGC: "off", GOMEMLIMIT: "2GiB" },
  });
  return parse(text);
}

/** The packages that have benchmarks: to link the tests of all the others takes longer than these do. */
async function withBenchmarks(): Promise<readonly string[]> {
  const folders = new Set<string>();
  for await (const file of glob("{protocol,sidecar}/**/*_test.go", { cwd: root })) {
    const text = await readFile(join(root, file), "utf8");
    if (/^func Benchmark/m.test(text)) folders.add(`./${dirname(file)}`);
  }
  return [...folders].sort();
}

/** Reads the output of `go test -bench -benchmem -cpu 1`: the least of each benchmark that was run more than once. */
export function parse(text: string): Costs {
  const costs = new Map<string, Cost>();
  let folder = "";
  for (const line of text.split("\n")) {
    folder = /^pkg: assent\/(?<folder>\S+)/.exec(line)?.groups?.["folder"] ?? folder;
    const found = /^(?<name>Benchmark\S+)\s.*?(?<bytes>\d+) B\/op\s+(?<allocs>\d+) allocs\/op/.exec(
      line,
    )?.groups;
    if (found === undefined) continue;
    const name = `${folder} ${found["name"]}`;
    const least = costs.get(name) ?? {
      bytes: Number.POSITIVE_INFINITY,
      allocs: Number.POSITIVE_INFINITY,
    };
    costs.set(name, {
      bytes: Math.min(least.bytes, Number(found["bytes"])),
      allocs: Math.min(least.allocs, Number(found["allocs"])),
    });
  }
  return Object.fromEntries([...costs].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Reports the difference of each benchmark from its committed value. */
export function compare(committed: Costs, measured: Costs): readonly string[] {
  const names = [...new Set([...Object.keys(committed), ...Object.keys(measured)])].sort();
  return names.flatMap((name) => {
    const was = committed[name];
    const is = measured[name];
    if (is === undefined) return [`${name} is gone`];
    if (was === undefined) return [`${name} is new: it has no figures yet`];
    const change = `${was.allocs} -> ${is.allocs} allocations, ${was.bytes} -> ${is.bytes} bytes`;
    if (is.allocs > was.allocs + Math.max(1, 0.02 * was.allocs))
      return [`${name} allocates more: ${change}`];
    if (is.bytes > was.bytes + Math.max(64, 0.1 * was.bytes))
      return [`${name} takes more: ${change}`];
    const isBetter = (before: number, now: number, least: number) =>
      now < before - Math.max(least, 0.2 * before);
    if (isBetter(was.allocs, is.allocs, 1) || isBetter(was.bytes, is.bytes, 64)) {
      return [`${name} is better by far, and the figures hide what comes next: ${change}`];
    }
    return [];
  });
}
