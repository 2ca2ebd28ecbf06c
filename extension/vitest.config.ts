import { defineConfig } from "vitest/config";
import { limits } from "../vitest.limits.ts";

export default defineConfig({
  test: {
    ...limits,
    name: "extension",
    environment: "node",
    include: ["src/**/*.test.ts"],
  },
});
