import { afterEach, expect, test, vi } from "vitest";

const { executeCommand, env } = vi.hoisted(() => ({
  executeCommand: vi.fn(async () => {}),
  env: { remoteName: undefined as string | undefined },
}));
vi.mock("vscode", () => ({ commands: { executeCommand }, env }));

const { openConfiguration } = await import("./openSource.ts");

afterEach(() => {
  executeCommand.mockClear();
  env.remoteName = undefined;
});

test("one setting is opened by its name, and all without one", async () => {
  await openConfiguration({ source: "settings", setting: "assent.tools.autoApprove" });
  await openConfiguration({ source: "settings" });
  expect(executeCommand.mock.calls).toEqual([
    ["workbench.action.openSettings", { query: "@id:assent.tools.autoApprove" }],
    ["workbench.action.openSettings", { query: "@ext:assent.assent" }],
  ]);
});

test("a setting of another machine is opened there", async () => {
  env.remoteName = "ssh-remote";
  await openConfiguration({ source: "settings", setting: "assent.tools.autoApprove" });
  expect(executeCommand).toHaveBeenCalledExactlyOnceWith("workbench.action.openRemoteSettings", {
    query: "@id:assent.tools.autoApprove",
  });
});
