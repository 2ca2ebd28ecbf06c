// The public address of the project, which "repository" of package.json alone has. Everything that needs one is made from it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./paths.ts";

/** The address in a manifest, such as https://github.com/OWNER/NAME, or undefined. */
export function addressIn(manifest: {
  readonly repository?: string | { readonly url?: string };
}): string | undefined {
  const { repository } = manifest;
  const url = typeof repository === "string" ? repository : repository?.url;
  if (url === undefined) return undefined;
  const plain = url.replace(/^git\+/, "").replace(/\.git$/, "");
  if (!/^https:\/\/[^/\s]+\/[^/\s]+\/[^/\s]+$/.test(plain)) {
    throw new Error(
      `"repository" of package.json is ${JSON.stringify(url)}: write https://HOST/OWNER/NAME`,
    );
  }
  return plain;
}

/** The project's address, or undefined while it has none. */
export const address = addressIn(JSON.parse(readFileSync(join(root, "package.json"), "utf8")));

/** What a package's manifest says of the address: nothing while there is none. */
export function repositoryMember(of: string | undefined): {
  readonly repository?: { readonly type: "git"; readonly url: string };
} {
  return of === undefined ? {} : { repository: { type: "git", url: `git+${of}.git` } };
}
