import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { limits } from "../vitest.limits.ts";

export const resolve = {
  alias: {
    // The package exports this path to bundlers for browsers alone, and tests run in Node.js.
    "vscode-jsonrpc/browser": fileURLToPath(
      import.meta.resolve("vscode-jsonrpc").replace("/common/api.js", "/browser/main.js"),
    ),
  },
};

/** A zone with half an hour and no summer time: a date-time that loses its offset shows at once. */
export const env = { TZ: "Asia/Kolkata" };

/** The tests that need a document. */
export const withDocument = ["src/**/*.test.tsx", "src/**/*.dom.test.ts"];

export default defineConfig({
  resolve,
  test: {
    ...limits,
    name: "webview-ui",
    environment: "jsdom",
    // A context for each file in processes that stay: half of the time went into starting one for each.
    pool: "vmForks",
    // What khroma imports is not found in such a context, unless Vite has read it.
    server: { deps: { inline: ["mermaid", "khroma"] } },
    include: withDocument,
    setupFiles: ["src/testing/setup.ts"],
    env,
  },
});
