import { defineConfig } from "vitest/config";
import { limits } from "../vitest.limits.ts";

export default defineConfig({
  test: {
    ...limits,
    name: "extension",
    environment: "node",
    // Most files replace the module "vscode": each has a context of its own, in processes that stay.
    pool: "vmForks",
    include: ["src/**/*.test.ts"],
  },
});
