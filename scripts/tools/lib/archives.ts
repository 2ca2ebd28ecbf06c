// The files of a release for those who use neither VS Code nor npm: a zip for Windows, a package for Debian, and a bundle
// that Claude Desktop installs by a double click. Each has the program of the extension's package, which must have been made.
import { createWriteStream } from "node:fs";
import { chmod, copyFile, mkdir, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { ZipFile } from "yazl";
import { address, repositoryMember } from "./address.ts";
import { output } from "./command.ts";
import { cacheFolder, distFolder, extensionFolder, root } from "./paths.ts";
import { version } from "./version.ts";
import { platformOf, programOf, sourceTime, stageOf, type Target } from "./vsix.ts";

/** What a package or a manifest says Assent is. */
export const description = "Answers what MCP servers ask, in a terminal or a browser";

/** Files by their names in an archive: paths of what to copy, or texts. */
type Files = Readonly<Record<string, { readonly from: string } | { readonly text: string }>>;

/** The archives for a target that there are besides the extension's package and npm's. */
export async function packArchives(target: Target): Promise<readonly string[]> {
  const { os } = platformOf(target);
  const made = [await packBundle(target)];
  if (os === "windows") made.push(await packZip(target));
  if (os === "linux") made.push(await packDebian(target));
  return made;
}

/** Packs a bundle of the gateway in the MCPB format, for one target: a zip with a manifest. */
export async function packBundle(target: Target): Promise<string> {
  const program = programOf(target);
  const manifest = {
    manifest_version: "0.3",
    name: "assent",
    display_name: "Assent",
    version,
    description: "Your MCP servers through Assent, which asks you for what they need",
    author: { name: "Assent" },
    ...repositoryMember(address),
    ...(address === undefined ? {} : { homepage: address, support: `${address}/issues` }),
    icon: "icon.png",
    license: "MIT",
    server: {
      type: "binary",
      entry_point: program,
      mcp_config: {
        command: `\${__dirname}/${program}`, // The host puts the bundle's folder here.
        args: ["gateway", "--host", "claude-desktop"],
      },
    },
    tools_generated: true,
    prompts_generated: true,
    compatibility: { platforms: [target.split("-")[0]] },
  };
  return await packFiles(`assent-${target}-${version}.mcpb`, {
    "manifest.json": { text: `${JSON.stringify(manifest, null, 2)}\n` },
    "icon.png": { from: join(extensionFolder, "media", "icon.png") },
    ...plainFiles(target),
  });
}

/** Packs the program for Windows, where people and winget want a zip. */
async function packZip(target: Target): Promise<string> {
  return await packFiles(`assent-${target}-${version}.zip`, plainFiles(target));
}

function plainFiles(target: Target): Files {
  return {
    [programOf(target)]: { from: join(stageOf(target), programOf(target)) },
    LICENSE: { from: join(root, "LICENSE") },
    "THIRD_PARTY_NOTICES.txt": { from: join(stageOf(target), "THIRD_PARTY_NOTICES.txt") },
  };
}

/** Packs files into a zip whose bytes depend on nothing but them and the time of the last commit. */
async function packFiles(name: string, files: Files): Promise<string> {
  await mkdir(distFolder, { recursive: true });
  const [archive, zip] = [join(distFolder, name), new ZipFile()];
  const mtime = new Date(Number(await sourceTime()) * 1000);
  for (const [path, content] of Object.entries(files)) {
    const options = { mtime, mode: path.startsWith("bin/") ? 0o100755 : 0o100644 };
    if ("text" in content) zip.addBuffer(Buffer.from(content.text), path, options);
    else zip.addFile(content.from, path, options);
  }
  zip.end();
  await pipeline(zip.outputStream, createWriteStream(archive));
  return archive;
}

/** Packs the program for Debian and its relatives, with the texts that shells complete. */
export async function packDebian(target: Target): Promise<string> {
  const { arch } = platformOf(target);
  const folder = join(cacheFolder, "package", "deb", target);
  await rm(folder, { recursive: true, force: true });
  const share = "usr/share";
  const files: Files = {
    "usr/bin/assent": { from: join(stageOf(target), programOf(target)) },
    [`${share}/doc/assent/copyright`]: { from: join(root, "LICENSE") },
    [`${share}/doc/assent/THIRD_PARTY_NOTICES.txt`]: {
      from: join(stageOf(target), "THIRD_PARTY_NOTICES.txt"),
    },
    [`${share}/bash-completion/completions/assent`]: { text: await completion("bash") },
    [`${share}/zsh/vendor-completions/_assent`]: { text: await completion("zsh") },
    [`${share}/fish/vendor_completions.d/assent.fish`]: { text: await completion("fish") },
  };
  let bytes = 0;
  for (const [name, content] of Object.entries(files)) {
    const to = join(folder, name);
    await mkdir(dirname(to), { recursive: true });
    if ("text" in content) await writeFile(to, content.text);
    else await copyFile(content.from, to);
    await chmod(to, name.startsWith("usr/bin/") ? 0o755 : 0o644);
    bytes += (await stat(to)).size;
  }
  const control = {
    Package: "assent",
    Version: version,
    Architecture: arch,
    Maintainer: address === undefined ? "Assent" : `Assent <${address}>`,
    "Installed-Size": String(Math.ceil(bytes / 1024)),
    Section: "utils",
    Priority: "optional",
    ...(address === undefined ? {} : { Homepage: address }),
    Description: description,
  };
  const fields = Object.entries(control).map(([name, value]) => `${name}: ${value}\n`);
  await mkdir(join(folder, "DEBIAN"));
  await writeFile(join(folder, "DEBIAN", "control"), fields.join(""));
  const deb = join(distFolder, `assent_${version}_${arch}.deb`);
  await mkdir(distFolder, { recursive: true });
  await output("dpkg-deb", ["--root-owner-group", "-Zgzip", "--build", folder, deb], {
    env: { SOURCE_DATE_EPOCH: await sourceTime() },
  });
  return deb;
}

/** What the program says that a shell should complete. The one for this machine says it for all. */
async function completion(shell: string): Promise<string> {
  return await output("go", ["run", "./sidecar/cmd/assent", "completion", shell]);
}
