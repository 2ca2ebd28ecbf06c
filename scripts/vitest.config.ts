import { defineConfig } from "vitest/config";
import { limits } from "../vitest.limits.ts";

export default defineConfig({
  test: {
    ...limits,
    name: "scripts",
    environment: "node",
    // They share their processes and what these have read: nothing of it changes.
    isolate: false,
    include: ["**/*.test.ts"],
  },
});
