import { relative, resolve } from "node:path";
import { build, type Plugin } from "esbuild";

/**
 * Serves `import code from "./x.ts?script"`: a whole script, with all that it imports, as text. The files
 * that it was made of are added to `files`.
 */
export const bundledScripts = (files: string[]): Plugin => ({
  name: "bundled scripts",
  setup({ onResolve, onLoad, initialOptions }) {
    const { target, define, absWorkingDir = process.cwd() } = initialOptions;
    // A path from the root: the name of the bundle is made of it, too, and is to be the same in every clone.
    onResolve({ filter: /\?script$/ }, ({ path, resolveDir }) => ({
      path: relative(absWorkingDir, resolve(resolveDir, path.replace(/\?script$/, ""))),
      namespace: "script",
    }));
    onLoad({ filter: /.*/, namespace: "script" }, async ({ path }) => {
      const result = await build({
        entryPoints: [resolve(absWorkingDir, path)],
        bundle: true,
        minify: true,
        write: false,
        legalComments: "eof",
        format: "iife",
        metafile: true,
        absWorkingDir,
        logLevel: "warning",
        ...(target !== undefined && { target }),
        ...(define !== undefined && { define }),
        plugins: [sequenceDiagramsOnly],
      });
      files.push(...Object.keys(result.metafile.inputs));
      const [script] = result.outputFiles;
      if (script === undefined) throw new Error(`esbuild made nothing of ${path}`);
      return { contents: script.text, loader: "text" };
    });
  },
});

/**
 * A script in one file has no parts to load later, so all forty of Mermaid's diagrams would be in it,
 * with layout engines and a typesetter, 3 MB. We draw sequence diagrams.
 */
const sequenceDiagramsOnly: Plugin = {
  name: "sequence diagrams only",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /.*/ }, ({ kind, path, importer }) => {
      const other = kind === "dynamic-import" && /[\\/]mermaid[\\/]/.test(importer);
      if (!other || /[\\/]sequenceDiagram-/.test(path)) return undefined;
      return { path, namespace: "left out" };
    });
    onLoad({ filter: /.*/, namespace: "left out" }, ({ path }) => ({
      contents: `throw new Error(${JSON.stringify(`${path} is not in this build`)});`,
    }));
  },
};
