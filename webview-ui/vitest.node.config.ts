import { defineConfig } from "vitest/config";
import { limits } from "../vitest.limits.ts";
import { env, resolve, withDocument } from "./vitest.config.ts";

// The tests that need no document share their processes and what these have read: nothing of it changes.
export default defineConfig({
  resolve,
  test: {
    ...limits,
    name: "webview-ui-node",
    environment: "node",
    isolate: false,
    include: ["src/**/*.test.ts"],
    exclude: withDocument,
    env,
  },
});
