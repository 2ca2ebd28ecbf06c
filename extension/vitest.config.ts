import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    name: "extension",
    environment: "node",
    include: ["src/**/*.test.ts"],
    testTimeout: 30_000, // several processes start in one test, on a machine that may be busy
  },
});
