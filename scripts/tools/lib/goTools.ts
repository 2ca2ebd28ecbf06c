import { join } from "node:path";
import { root } from "./paths.ts";

/**
 * The arguments of `go` that run one of the tools of scripts/tools/lint/go.mod. They have a go.mod of
 * their own, so that what they need never weighs on the product's.
 */
export function goTool(name: string, ...args: readonly string[]): readonly string[] {
  return ["tool", `-modfile=${join(root, "scripts", "tools", "lint", "go.mod")}`, name, ...args];
}

/** The folders that hold the product's Go. */
export const goFolders = ["protocol", "sidecar", "scripts"] as const;
