import { describe, expect, it } from "vitest";
import { compare, parse } from "./allocations.ts";

describe("parse", () => {
  it("reads what go test prints, of several packages, more than once", () => {
    const text = `goos: linux
pkg: assent/sidecar/rpc
cpu: any
BenchmarkNotify \t     100\t      6220 ns/op\t     974 B/op\t       9 allocs/op
BenchmarkNotify \t     100\t      6220 ns/op\t     960 B/op\t      10 allocs/op
PASS
ok  \tassent/sidecar/rpc\t0.010s
?   \tassent/sidecar/tap\t[no test files]
pkg: assent/sidecar/task
BenchmarkAnswer/history=0 \t 200\t 1517125 ns/op\t  9664 B/ask\t   20906 B/op\t     363 allocs/op
BenchmarkNoMemory \t 200\t 1517125 ns/op
`;
    expect(parse(text)).toEqual({
      "sidecar/rpc BenchmarkNotify": { bytes: 960, allocs: 9 },
      "sidecar/task BenchmarkAnswer/history=0": { bytes: 20906, allocs: 363 },
    });
  });
});

describe("compare", () => {
  const of = (bytes: number, allocs: number) => ({ "p BenchmarkX": { bytes, allocs } });

  it.each([
    { name: "the same", was: of(1000, 100), is: of(1000, 100) },
    { name: "a pool that was emptied once", was: of(1000, 100), is: of(1099, 102) },
    { name: "one allocation of few", was: of(100, 3), is: of(160, 4) },
    { name: "a little better", was: of(1000, 100), is: of(801, 81) },
  ])("lets through $name", ({ was, is }) => {
    expect(compare(was, is)).toEqual([]);
  });

  it.each([
    {
      name: "more allocations",
      was: of(1000, 100),
      is: of(1000, 103),
      want: /allocates more.*100 -> 103/,
    },
    { name: "more bytes", was: of(1000, 100), is: of(1101, 100), want: /takes more.*1000 -> 1101/ },
    { name: "far fewer", was: of(1000, 100), is: of(1000, 79), want: /better by far.*100 -> 79/ },
    { name: "one that vanished", was: of(1, 1), is: {}, want: /^p BenchmarkX is gone$/ },
    { name: "one that is new", was: {}, is: of(1, 1), want: /^p BenchmarkX is new/ },
  ])("complains of $name", ({ was, is, want }) => {
    expect(compare(was, is)).toEqual([expect.stringMatching(want)]);
  });
});
