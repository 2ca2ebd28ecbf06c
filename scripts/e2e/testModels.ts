import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runPackage } from "../tools/lib/command.ts";
import { root } from "../tools/lib/paths.ts";

/** Packages the extension with the tests' models for VS Code, passes its path to `use`, and then removes it. */
export async function withTestModels<T>(use: (vsix: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "assent-models-"));
  try {
    const vsix = join(folder, "models.vsix");
    const options = ["--no-dependencies", "--allow-missing-repository", "--skip-license"];
    await runPackage("@vscode/vsce/vsce", ["package", ...options, "-o", vsix], {
      cwd: join(root, "scripts", "e2e", "models-extension"),
    });
    return await use(vsix);
  } finally {
    await rm(folder, { recursive: true });
  }
}
