// npm run package: a .vsix and an npm package for each platform, or with `-- --target X` for one, and the npm package that
// starts them.
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { parseArgs } from "node:util";
import { buildExtension, buildWebview } from "./lib/build.ts";
import { packLauncher, packProgram } from "./lib/npm.ts";
import { allTargets, isTarget, packageFor, type Target } from "./lib/vsix.ts";

const megabyte = 1_000_000;

const { values } = parseArgs({ options: { target: { type: "string" } } });
const sizes = new Map<string, number>();
await Promise.all([buildWebview(), buildExtension()]);
for (const target of chosen(values.target)) {
  for (const file of [await packageFor(target), await packProgram(target)]) {
    sizes.set(file, (await stat(file)).size);
  }
}
const launcher = await packLauncher();
sizes.set(launcher, (await stat(launcher)).size);

console.log("\n    MB  package");
for (const [file, size] of sizes) {
  console.log(`${(size / megabyte).toFixed(2).padStart(6)}  ${basename(file)}`);
}

function chosen(target: string | undefined): readonly Target[] {
  if (target === undefined) return allTargets;
  if (isTarget(target)) return [target];
  throw new Error(`no target ${target}; there are ${allTargets.join(", ")}`);
}
