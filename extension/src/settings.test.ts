import { beforeEach, expect, test, vi } from "vitest";
import { settingsReader } from "./settings.ts";

/** The settings of the person and of the workspace, by their names after "assent.". */
const world = vi.hoisted(() => ({
  own: {} as Record<string, unknown>,
  workspace: {} as Record<string, unknown>,
  trusted: true,
}));

vi.mock("vscode", () => ({
  workspace: {
    get isTrusted() {
      return world.trusted;
    },
    getConfiguration: () => ({
      get: (name: string) => world.workspace[name] ?? world.own[name],
      inspect: (name: string) => ({
        globalValue: world.own[name],
        workspaceValue: world.workspace[name],
      }),
    }),
  },
}));

beforeEach(() => {
  Object.assign(world, { own: {}, workspace: {}, trusted: true });
});

const read = (name: string): unknown => settingsReader()(name, "the default");

test("a setting has its default until it is set", () => {
  expect(read("sampling.review")).toBe("the default");
  world.own["sampling.review"] = "never";
  expect(read("sampling.review")).toBe("never");
});

test("a trusted workspace sets the settings that it may", () => {
  Object.assign(world.workspace, { servers: { evil: {} }, "chat.systemPrompt": "Be brief." });
  expect(read("servers")).toBe("the default");
  expect(read("chat.systemPrompt")).toBe("Be brief.");
  world.trusted = false;
  expect(read("chat.systemPrompt")).toBe("the default");
});
