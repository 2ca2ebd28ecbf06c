import { join } from "node:path";
import { expect, test } from "vitest";
import { dataFolderOf, serveArgs } from "./dataFolder.ts";

const of = (...folders: readonly string[]) =>
  dataFolderOf("/storage", { workspaceFile: undefined, folders });

test("the conversations of a folder are in one place for all windows", () => {
  expect(of("file:///web")).toBe(of("file:///web"));
  expect(of("file:///web")).toMatch(/^.storage.workspaces.[0-9a-f]{32}$/);
  expect(of("file:///web", "file:///api")).toBe(of("file:///api", "file:///web"));
  expect(of("file:///web")).not.toBe(of("file:///api"));
  expect(of("file:///web")).not.toBe(of("vscode-remote://ssh/web"));
});

test("a saved workspace has its own folder, and a window without a folder uses the global one", () => {
  const saved = { workspaceFile: "file:///all.code-workspace", folders: ["file:///web"] };
  expect(dataFolderOf("/storage", saved)).not.toBe(of("file:///web"));
  expect(dataFolderOf("/storage", saved)).toBe(dataFolderOf("/storage", { ...saved, folders: [] }));
  expect(of()).toBe("/storage");
});

test("windows on different workspaces have one folder for the locks of logins", () => {
  const [web, api] = [of("file:///web"), of("file:///api")].map((data) =>
    serveArgs("/storage", data, "info", false),
  );
  expect(web).toContain(of("file:///web"));
  expect(api).not.toContain(of("file:///web"));
  for (const args of [web, api])
    expect(args?.[args.indexOf("--logins-dir") + 1]).toBe(join("/storage", "logins"));
});

test("a setting has the window be its own daemon", () => {
  const [shared, alone] = [false, true].map((own) => serveArgs("/storage", "/data", "info", own));
  expect(shared).not.toContain("--standalone");
  expect(alone).toEqual([...(shared ?? []), "--standalone"]);
});
