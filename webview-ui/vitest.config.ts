import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  resolve: {
    alias: {
      // The package exports this path to bundlers for browsers alone, and tests run in Node.js.
      "vscode-jsonrpc/browser": fileURLToPath(
        import.meta.resolve("vscode-jsonrpc").replace("/common/api.js", "/browser/main.js"),
      ),
    },
  },
  test: {
    environment: "jsdom",
    testTimeout: 30_000,
    include: ["src/**/*.test.{ts,tsx}"],
    setupFiles: ["src/testing/setup.ts"],
    // A zone with half an hour and no summer time: a date-time that loses its offset shows at once.
    env: { TZ: "Asia/Kolkata" },
  },
});
