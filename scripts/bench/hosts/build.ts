import { join } from "node:path";
import { build } from "esbuild";

const hosts = ["pollingHost", "promiseHost"];

/** Bundles the hosts into a folder, each into one file, as an extension's code is. */
export async function buildHosts(folder: string): Promise<void> {
  await build({
    entryPoints: hosts.map((name) => join(import.meta.dirname, `${name}.ts`)),
    outdir: folder,
    outExtension: { ".js": ".cjs" },
    bundle: true,
    minify: true,
    format: "cjs",
    platform: "node",
    target: "node22",
    logLevel: "warning",
  });
}
