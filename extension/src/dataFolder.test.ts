import { expect, test } from "vitest";
import { dataFolderOf } from "./dataFolder.ts";

const of = (...folders: readonly string[]) =>
  dataFolderOf("/storage", { workspaceFile: undefined, folders });

test("the conversations of a folder are in one place, whatever window has it open", () => {
  expect(of("file:///web")).toBe(of("file:///web"));
  expect(of("file:///web")).toMatch(/^.storage.workspaces.[0-9a-f]{32}$/);
  expect(of("file:///web", "file:///api")).toBe(of("file:///api", "file:///web"));
  expect(of("file:///web")).not.toBe(of("file:///api"));
  expect(of("file:///web")).not.toBe(of("vscode-remote://ssh/web"));
});

test("a saved workspace has its own, and a window without a folder what is global", () => {
  const saved = { workspaceFile: "file:///all.code-workspace", folders: ["file:///web"] };
  expect(dataFolderOf("/storage", saved)).not.toBe(of("file:///web"));
  expect(dataFolderOf("/storage", saved)).toBe(dataFolderOf("/storage", { ...saved, folders: [] }));
  expect(of()).toBe("/storage");
});
