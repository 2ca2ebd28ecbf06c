import { defineConfig } from "vitest/config";

export default defineConfig({
  test: { projects: ["extension", "webview-ui", "webview-ui/vitest.node.config.ts", "scripts"] },
});
