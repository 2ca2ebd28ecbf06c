import { chmod, copyFile, mkdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { address, repositoryMember } from "./address.ts";
import { output } from "./command.ts";
import { serverName } from "./manifests.ts";
import { cacheFolder, distFolder, root } from "./paths.ts";
import { version } from "./version.ts";
import { allTargets, programOf, stageOf, type Target } from "./vsix.ts";

/** The package that people install. Its program is in one of {@link programPackage}. */
export const launcherPackage = "@assent/cli";

/** The package with the program for one target. npm installs it only there. */
export function programPackage(target: Target): string {
  return `${launcherPackage}-${target}`;
}

/** Where the tarball of a package goes. */
function tarballOf(name: string): string {
  return join(distFolder, `${name.replace("@", "").replace("/", "-")}-${version}.tgz`);
}

const shared = { version, license: "MIT", ...repositoryMember(address) };

/** Packs the launcher, which names the programs of all targets. */
export async function packLauncher(): Promise<string> {
  const names = allTargets.map(programPackage);
  const manifest = {
    name: launcherPackage,
    ...shared,
    ...(address === undefined ? {} : { mcpName: serverName(address) }),
    description: "Answer what MCP servers ask, in a terminal or a browser",
    type: "module",
    bin: { assent: "assent.mjs" },
    engines: { node: ">=20" },
    optionalDependencies: Object.fromEntries(names.map((name) => [name, version])),
  };
  const sources = join(root, "scripts", "tools", "npm");
  return await pack(manifest, {
    "assent.mjs": join(sources, "assent.mjs"),
    "README.md": join(sources, "README.md"),
    LICENSE: join(root, "LICENSE"),
  });
}

/** Packs the program for one target: the one of the extension's package, which must have been made. */
export async function packProgram(target: Target): Promise<string> {
  const [os = "", cpu = ""] = target.split("-");
  const program = programOf(target);
  const manifest = {
    name: programPackage(target),
    ...shared,
    description: `The program of ${launcherPackage} for ${target}`,
    os: [os],
    cpu: [cpu],
  };
  const stage = stageOf(target);
  return await pack(manifest, {
    [program]: join(stage, program),
    LICENSE: join(root, "LICENSE"),
    "THIRD_PARTY_NOTICES.txt": join(stage, "THIRD_PARTY_NOTICES.txt"),
  });
}

/** Packs a manifest with files, by their names in the package, and returns the tarball. */
async function pack(
  manifest: { readonly name: string },
  files: Readonly<Record<string, string>>,
): Promise<string> {
  const folder = join(cacheFolder, "package", "npm", manifest.name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const text = { ...manifest, files: Object.keys(files) };
  await writeFile(join(folder, "package.json"), `${JSON.stringify(text, null, 2)}\n`);
  for (const [name, from] of Object.entries(files)) {
    const to = join(folder, name);
    await mkdir(dirname(to), { recursive: true });
    await copyFile(from, to);
    await chmod(to, /\.(txt|md)$|LICENSE$/.test(name) ? 0o644 : 0o755);
  }
  const [packed] = JSON.parse(
    await output("npm", ["pack", "--json", "--ignore-scripts", "--loglevel=error"], {
      cwd: folder,
    }),
  ) as readonly { readonly filename: string }[];
  if (packed === undefined) throw new Error(`npm packed nothing in ${folder}`);
  const tarball = tarballOf(manifest.name);
  await mkdir(distFolder, { recursive: true });
  await rename(join(folder, packed.filename), tarball);
  return tarball;
}
