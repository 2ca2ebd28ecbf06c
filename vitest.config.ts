import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: ["extension", "webview-ui", "webview-ui/vitest.node.config.ts", "scripts"],
    // With --changed, what tests read without importing it makes all of them run.
    forceRerunTriggers: ["**/*.{md,json,css}", "**/vitest*.ts"],
  },
});
