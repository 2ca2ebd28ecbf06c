// npm run release: all that a release has, in dist/release, with SHA256SUMS. With `-- --dry-run` it needs no address, and makes
// the rest; with `-- --tag vVERSION` it fails unless that is this version; `-- --target X` is for one platform, to try.
import { createHash } from "node:crypto";
import { copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { address } from "./lib/address.ts";
import { packArchives } from "./lib/archives.ts";
import { buildExtension, buildWebview } from "./lib/build.ts";
import { output } from "./lib/command.ts";
import { manifestsOf } from "./lib/manifests.ts";
import { worksIn } from "./lib/notices.ts";
import { packLauncher, packProgram } from "./lib/npm.ts";
import { distFolder } from "./lib/paths.ts";
import { differences, missingModules, sbomOf } from "./lib/sbom.ts";
import { version } from "./lib/version.ts";
import {
  allTargets,
  isTarget,
  packageFor,
  platformOf,
  programOf,
  stageOf,
  type Target,
} from "./lib/vsix.ts";

const { values } = parseArgs({
  options: {
    "dry-run": { type: "boolean", default: false },
    tag: { type: "string" },
    target: { type: "string" },
  },
});
const faults = faultsBefore();
if (faults.length > 0) {
  for (const fault of faults) console.error(`release: ${fault}`);
  process.exit(2);
}

const folder = join(distFolder, "release");
await rm(folder, { recursive: true, force: true });
await mkdir(folder, { recursive: true });
await Promise.all([buildWebview(), buildExtension()]);
for (const target of chosen()) {
  const [vsix, program] = [await packageFor(target), await packProgram(target)];
  for (const file of [vsix, program, ...(await packArchives(target))])
    await copyFile(file, join(folder, basename(file)));
  await listWorks(target, basename(vsix), basename(program));
}
const launcher = await packLauncher();
await copyFile(launcher, join(folder, basename(launcher)));
if (address !== undefined && values.target === undefined) {
  const manifests = manifestsOf({ version, address, sums: await sumsOf() });
  for (const [name, text] of manifests) await writeFile(join(folder, name), text);
}
const sums = await sumsOf();
const lines = [...sums].map(([name, sum]) => `${sum}  ${name}\n`);
await writeFile(join(folder, "SHA256SUMS"), lines.join(""));
console.log(`\n${[...sums.keys()].join("\n")}\nall in ${folder}, with SHA256SUMS`);
if (address === undefined) {
  console.log(
    "without an address: no Homebrew formula, no manifests of winget and scoop, no server.json",
  );
}

/** What is missing for a release, before anything is built. */
function faultsBefore(): readonly string[] {
  const found: string[] = [];
  if (address === undefined && !values["dry-run"]) {
    found.push(
      'package.json has no "repository": add the address of the project, as https://HOST/OWNER/NAME, or try without with --dry-run',
    );
  }
  if (values.tag !== undefined && values.tag !== `v${version}`) {
    found.push(`the tag is ${values.tag}, and the version in extension/package.json is ${version}`);
  }
  if (values.target !== undefined && !values["dry-run"]) {
    found.push("a release is for all platforms: --target needs --dry-run");
  }
  if (values.target !== undefined && !isTarget(values.target)) {
    found.push(`no target ${values.target}; there are ${allTargets.join(", ")}`);
  }
  return found;
}

function chosen(): readonly Target[] {
  return values.target !== undefined && isTarget(values.target) ? [values.target] : allTargets;
}

/** Writes the list of works of the extension's package and of the program, and holds it against the others that there are. */
async function listWorks(target: Target, vsix: string, program: string): Promise<void> {
  const platform = platformOf(target);
  const ofVsix = sbomOf(vsix, version, await worksIn(platform));
  const ofProgram = sbomOf(program, version, await worksIn(platform, ["webview"]));
  const stage = stageOf(target);
  const binary = join(stage, programOf(target));
  const wrong = [
    ...differences(ofVsix, await readFile(join(stage, "THIRD_PARTY_NOTICES.txt"), "utf8")),
    ...missingModules(ofProgram, await output("go", ["version", "-m", binary])).map(
      (each) => `the list of works of ${program} lacks ${each}`,
    ),
  ];
  if (wrong.length > 0) throw new Error(wrong.join("\n"));
  for (const [file, sbom] of [
    [vsix, ofVsix],
    [program, ofProgram],
  ] as const) {
    await writeFile(join(folder, `${file}.cdx.json`), `${JSON.stringify(sbom, null, 2)}\n`);
  }
}

/** The SHA-256 of each file, by name. */
async function sumsOf(): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const name of (await readdir(folder)).sort()) {
    const hash = createHash("sha256").update(await readFile(join(folder, name)));
    found.set(name, hash.digest("hex"));
  }
  return found;
}
