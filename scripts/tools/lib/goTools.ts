import { join } from "node:path";
import { root } from "./paths.ts";

/**
 * The arguments with which `go` runs a tool of scripts/tools/lint/go.mod. The tools have their own go.mod, so that
 * their dependencies do not affect the product's.
 */
export function goTool(name: string, ...args: readonly string[]): readonly string[] {
  return ["tool", `-modfile=${join(root, "scripts", "tools", "lint", "go.mod")}`, name, ...args];
}

/** The folders that hold the product's Go. */
export const goFolders = ["protocol", "sidecar", "scripts"] as const;
