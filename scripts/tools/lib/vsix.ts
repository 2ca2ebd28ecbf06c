import { chmod, copyFile, cp, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { address, repositoryMember } from "./address.ts";
import { buildSidecar, type Platform } from "./build.ts";
import { allOutput, output } from "./command.ts";
import { filesOf, reachableFrom, readmeOfPackage } from "./documents.ts";
import { noticesText, worksIn } from "./notices.ts";
import { cacheFolder, distFolder, extensionFolder, root } from "./paths.ts";
import { version } from "./version.ts";
import { fileModes } from "./zip.ts";

/** The platforms that a package is made for: VS Code's names, and Go's. */
const targets = {
  "linux-x64": { os: "linux", arch: "amd64" },
  "linux-arm64": { os: "linux", arch: "arm64" },
  "darwin-x64": { os: "darwin", arch: "amd64" },
  "darwin-arm64": { os: "darwin", arch: "arm64" },
  "win32-x64": { os: "windows", arch: "amd64" },
  "win32-arm64": { os: "windows", arch: "arm64" },
} as const satisfies Record<string, Platform>;

export type Target = keyof typeof targets;

export const allTargets = Object.keys(targets) as readonly Target[];

/** This machine's own target. */
export function hostTarget(): Target {
  const name = `${process.platform}-${process.arch}`;
  if (isTarget(name)) return name;
  throw new Error(`there is no package for ${name}`);
}

/** Where the package for a target goes. */
export function vsixOf(target: Target): string {
  return join(distFolder, `assent-${target}-${version}.vsix`);
}

/** How many bytes a package may have, at most. What people download must not grow unseen. */
export const sizeLimit = 15_000_000;

/** The platform of a target, by Go's names. */
export function platformOf(target: Target): Platform {
  return targets[target];
}

/** The program's path in each package for a target. */
export function programOf(target: Target): string {
  return platformOf(target).os === "windows" ? "bin/assent.exe" : "bin/assent";
}

/** Where the files of the package for a target are put together. They stay there. */
export function stageOf(target: Target): string {
  return join(cacheFolder, "package", target);
}

export function isTarget(name: string): name is Target {
  return Object.hasOwn(targets, name);
}

/** The files from the root in the package, besides those that the README links to. */
const documents = ["CHANGELOG.md", "LICENSE"] as const;

/** The files from the extension's folder in the package. */
const staged = [
  "package.json",
  "package.nls.json",
  ".vscodeignore",
  "dist",
  "l10n",
  "media",
  "schemas",
] as const;

/**
 * Packages the extension with the sidecar for one target and returns the .vsix. The webview and the
 * extension must have been built. Works in a copy, so that the developer's own sidecar stays.
 */
export async function packageFor(target: Target): Promise<string> {
  const stage = stageOf(target);
  await rm(stage, { recursive: true, force: true });
  await mkdir(stage, { recursive: true });
  for (const name of [...documents, ...(await reachableFrom("README.md", filesOf(root)))]) {
    await mkdir(dirname(join(stage, name)), { recursive: true });
    await copyFile(join(root, name), join(stage, name));
  }
  const readme = await readFile(join(root, "README.md"), "utf8");
  await writeFile(join(stage, "README.md"), readmeOfPackage(readme));
  for (const name of staged) {
    await cp(join(extensionFolder, name), join(stage, name), { recursive: true });
  }
  await nameAddress(join(stage, "package.json"));
  const platform = platformOf(target);
  const binary = programOf(target);
  await buildSidecar(join(stage, binary), platform);
  await chmod(join(stage, binary), 0o755);
  const notices = noticesText(await worksIn(platform));
  await writeFile(join(stage, "THIRD_PARTY_NOTICES.txt"), notices);

  await mkdir(distFolder, { recursive: true });
  const vsix = vsixOf(target);
  await runVsce(stage, target, vsix);
  await checkExecutable(vsix, `extension/${binary}`);
  await checkSize(vsix);
  return vsix;
}

/** Gives the manifest of a package the project's address, while there is one. */
async function nameAddress(file: string): Promise<void> {
  if (address === undefined) return;
  const manifest = JSON.parse(await readFile(file, "utf8")) as object;
  const text = JSON.stringify({ ...manifest, ...repositoryMember(address) }, null, 2);
  await writeFile(file, `${text}\n`);
}

/**
 * The time of the files in a package: that of the last commit, so that two builds make the same bytes. Without a
 * repository it is the oldest that an archive can have.
 */
export async function sourceTime(): Promise<string> {
  const given = process.env["SOURCE_DATE_EPOCH"];
  if (given !== undefined) return given;
  const time = await output("git", ["log", "-1", "--format=%ct"]).catch(() => "");
  return time.trim() || String(Date.UTC(1980, 0, 2) / 1000);
}

/** Packages a folder. A warning of vsce is an error here, because the output of a successful run is not read. */
export async function runVsce(folder: string, target: Target, vsix: string): Promise<void> {
  const options = [
    "--no-dependencies",
    "--allow-missing-repository",
    "--no-rewrite-relative-links",
  ];
  const args = ["package", "--target", target, "--out", vsix, ...options];
  const said = await allOutput(process.execPath, [vsce, ...args], {
    cwd: folder,
    env: { SOURCE_DATE_EPOCH: await sourceTime() },
  });
  const warnings = said.split("\n").filter((line) => /\bWARN(ING)?\b/.test(line));
  if (warnings.length > 0) throw new Error(`vsce warns:\n${warnings.join("\n")}`);
}

const vsce = join(root, "node_modules", "@vscode", "vsce", "vsce");

/** Fails if a package is larger than {@link sizeLimit}. */
export async function checkSize(file: string): Promise<void> {
  const { size } = await stat(file);
  if (size <= sizeLimit) return;
  throw new Error(`${basename(file)} has ${size} bytes, and may have ${sizeLimit}`);
}

/** VS Code unpacks a package with the modes in it; without this bit the sidecar could not start. */
async function checkExecutable(vsix: string, file: string): Promise<void> {
  const mode = fileModes(await readFile(vsix)).get(file);
  if (mode === undefined) throw new Error(`${vsix} has no ${file}`);
  if ((mode & 0o111) === 0) throw new Error(`${file} in ${vsix} is not executable`);
}
