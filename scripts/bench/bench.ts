// npm run bench: measures the sidecar beside its references, see scripts/bench/main.go, and the panel, see
// scripts/bench/panel.ts and scripts/bench/pixels. `npm run bench -- --rounds 9 --only ask,panel` measures two groups.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { run } from "../tools/lib/command.ts";
import { buildHosts } from "./hosts/build.ts";
import { measurePanel } from "./panel.ts";
import { measurePixels } from "./pixels/measure.ts";

const panels = new Map([
  ["panel", measurePanel],
  ["pixels", measurePixels],
]);

async function measureSidecar(args: readonly string[]): Promise<void> {
  const hosts = await mkdtemp(join(tmpdir(), "assent-bench-hosts-"));
  try {
    await buildHosts(hosts);
    const flags = ["-hosts", hosts, "-node", process.execPath];
    await run("go", ["run", "./scripts/bench", ...flags, ...args]);
  } finally {
    await rm(hosts, { recursive: true, force: true });
  }
}

async function measure(): Promise<void> {
  const text = { type: "string" } as const;
  const { values } = parseArgs({ options: { only: text, rounds: text, asks: text } });
  const { only, ...others } = values;
  const names = only?.split(",").map((name) => name.trim());
  // The program knows all other names, and refuses a wrong one.
  const sidecar = names?.filter((name) => !panels.has(name));
  if (sidecar?.length !== 0) {
    const flags = { ...others, ...(sidecar !== undefined && { only: sidecar.join(",") }) };
    await measureSidecar(Object.entries(flags).map(([name, value]) => `-${name}=${value}`));
  }
  for (const [name, measurePart] of panels) {
    if (names?.includes(name) ?? true) await measurePart();
  }
}

measure().catch((error: Error) => {
  console.error(`bench: ${error.message}`);
  process.exitCode = 1;
});
