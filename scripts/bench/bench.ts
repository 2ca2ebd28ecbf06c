// npm run bench: measures the sidecar beside its references, see scripts/bench/main.go, and the panel, see
// scripts/bench/panel.ts and scripts/bench/pixels. `npm run bench -- --rounds 9 --only panel --json FILE` are passed on,
// as are the other options of the first.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../tools/lib/command.ts";
import { buildHosts } from "./hosts/build.ts";
import { measurePanel } from "./panel.ts";
import { measurePixels } from "./pixels/measure.ts";

const args = process.argv.slice(2);

/** The value of an option, in any of the ways in which Go's flags are written. */
function option(name: string): string | undefined {
  const at = args.findIndex((arg) => new RegExp(`^--?${name}(=|$)`).test(arg));
  const arg = args[at];
  if (arg === undefined) return undefined;
  return arg.includes("=") ? arg.slice(arg.indexOf("=") + 1) : args[at + 1];
}

async function measureSidecar(): Promise<void> {
  const hosts = await mkdtemp(join(tmpdir(), "assent-bench-hosts-"));
  try {
    await buildHosts(hosts);
    const flags = ["-hosts", hosts, "-node", process.execPath];
    await run("go", ["run", "./scripts/bench", ...flags, ...args]);
  } finally {
    await rm(hosts, { recursive: true, force: true });
  }
}

const only = option("only");
if (only !== "panel" && only !== "pixels") await measureSidecar();
if (only === undefined || only === "panel") await measurePanel(option("json"));
if (only === undefined || only === "pixels") await measurePixels(option("json"));
