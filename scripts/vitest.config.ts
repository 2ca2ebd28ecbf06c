import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    name: "scripts",
    environment: "node",
    include: ["**/*.test.ts"],
    // They start processes, and the machine may be busy.
    testTimeout: 30_000,
  },
});
