import { expect, test, vi } from "vitest";
import { readPolicies } from "./policies.ts";

/** The settings by their names after "chat.mcp.", as VS Code has them with its policies. */
const settings = vi.hoisted((): Record<string, unknown> => ({}));

vi.mock("vscode", () => ({
  workspace: {
    getConfiguration: (section: string) => ({
      get: (name: string) => (section === "chat.mcp" ? settings[name] : undefined),
    }),
  },
}));

test("what restricts nothing is nothing", () => {
  expect(readPolicies()).toBeUndefined();
  settings["access"] = "all";
  expect(readPolicies()).toBeUndefined();
});

test("the policies have the names of VS Code's file", () => {
  const denied = [{ serverName: "github" }];
  Object.assign(settings, { access: "none", allowedServers: null, deniedServers: denied });
  const read: unknown = JSON.parse(JSON.stringify(readPolicies()));
  expect(read).toEqual({ ChatMCP: "none", ChatDeniedMcpServers: denied });
  settings["allowedServers"] = [];
  expect(readPolicies()).toHaveProperty("ChatAllowedMcpServers", []);
});
