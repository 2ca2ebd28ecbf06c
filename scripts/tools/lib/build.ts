import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { type BuildOptions, build, type Metafile } from "esbuild";
import { bundledScripts } from "./bundledScripts.ts";
import { run } from "./command.ts";
import { cacheFolder, extensionFolder, root, sidecarBinary } from "./paths.ts";
import { version } from "./version.ts";

/** A Go platform, by the names of GOOS and GOARCH. */
export interface Platform {
  readonly os: string;
  readonly arch: string;
}

/** Builds the sidecar as a static, stripped binary; for this machine when no platform is given. */
export async function buildSidecar(file = sidecarBinary, platform?: Platform): Promise<void> {
  const flags = ["-trimpath", "-ldflags", `-s -w -X assent/sidecar/cmd.version=${version}`];
  const target = platform === undefined ? {} : { GOOS: platform.os, GOARCH: platform.arch };
  await run("go", ["build", ...flags, "-o", file, "./sidecar/cmd/assent"], {
    env: { CGO_ENABLED: "0", ...target },
  });
}

const shared = {
  bundle: true,
  minify: true,
  legalComments: "linked",
  logLevel: "warning",
} satisfies BuildOptions;

/** A bundle of esbuild. The program has the webview, and the extension's package has both. */
export type Bundle = "webview" | "extension";

/** Where is noted which files a bundle was made of. */
const filesOf = (name: Bundle): string => join(cacheFolder, "bundled", `${name}.json`);

async function bundle(name: Bundle, options: BuildOptions): Promise<Metafile> {
  const nested: string[] = [];
  const { metafile } = await build({
    ...shared,
    ...options,
    absWorkingDir: root,
    metafile: true,
    plugins: [bundledScripts(nested)],
  });
  const files = [...new Set([...Object.keys(metafile.inputs), ...nested])].sort();
  await mkdir(dirname(filesOf(name)), { recursive: true });
  await writeFile(filesOf(name), JSON.stringify(files));
  return metafile;
}

/** The files that the last build put into the webview and the extension, as paths from the root. */
export async function readBundledFiles(
  bundles: readonly Bundle[] = ["webview", "extension"],
): Promise<readonly string[]> {
  const read = async (name: Bundle): Promise<readonly string[]> =>
    JSON.parse(await readFile(filesOf(name), "utf8")) as string[];
  return (await Promise.all(bundles.map(read))).flat();
}

/** Where the sidecar's build finds the panel that it serves to browsers. */
const panelOfSidecar = join(root, "sidecar", "browser", "panel");

/** Gives the next build of the sidecar the panel, packed. A file that stays is never absent: a build may be reading it. */
async function givePanelToSidecar(webview: string, imports: readonly string[]): Promise<void> {
  const names = (await readdir(webview)).filter((name) => !name.endsWith(".LEGAL.txt"));
  const pack = async (name: string) => {
    const packed = gzipSync(await readFile(join(webview, name)), { level: 9 });
    await writeFile(join(panelOfSidecar, `${name}.gz`), packed);
  };
  await Promise.all(names.map(pack));
  await writeFile(join(panelOfSidecar, "imports.txt"), imports.map((name) => `${name}\n`).join(""));
  const stale = (await readdir(panelOfSidecar)).filter(
    (name) => name.endsWith(".gz") && !names.includes(name.slice(0, -".gz".length)),
  );
  await Promise.all(stale.map((name) => rm(join(panelOfSidecar, name))));
}

/** Builds the webview: a page's script and style, with large parts in separate files. */
export async function buildWebview(): Promise<void> {
  const outdir = join(extensionFolder, "dist", "webview");
  await rm(outdir, { recursive: true, force: true });
  const { outputs } = await bundle("webview", {
    entryPoints: [join(root, "webview-ui", "src", "main.tsx")],
    outdir,
    format: "esm",
    splitting: true,
    target: "chrome130",
    jsx: "automatic",
    loader: { ".ttf": "file" },
    define: { "process.env.NODE_ENV": '"production"' },
  });
  await givePanelToSidecar(outdir, importsOf("main.js", outputs));
}

/** The names of the files that a built file imports, and that these import, except files that are loaded later. */
function importsOf(name: string, outputs: Metafile["outputs"]): readonly string[] {
  const found = new Set<string>();
  const follow = (file: string): void => {
    for (const { path, kind } of outputs[file]?.imports ?? []) {
      if (kind !== "import-statement" || found.has(path)) continue;
      found.add(path);
      follow(path);
    }
  };
  const file = Object.keys(outputs).find((path) => basename(path) === name);
  if (file !== undefined) follow(file);
  return [...found].map((path) => basename(path));
}

/** Builds the extension: one file for VS Code to load. */
export async function buildExtension(): Promise<void> {
  await bundle("extension", {
    entryPoints: [join(extensionFolder, "src", "extension.ts")],
    outfile: join(extensionFolder, "dist", "extension.cjs"),
    format: "cjs",
    platform: "node",
    target: "node22",
    external: ["vscode"],
  });
}

export async function buildAll(): Promise<void> {
  await Promise.all([buildPanelAndSidecar(), buildExtension()]);
}

/** Builds the webview, and then the sidecar, which embeds it. */
export async function buildPanelAndSidecar(): Promise<void> {
  await buildWebview();
  await buildSidecar();
}
