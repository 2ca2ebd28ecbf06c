import { execFileSync } from "node:child_process";
import {
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { mkdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readWorkspaceFile } from "./workspaceFile.ts";

let root: string;
let workspace: string;

beforeEach(async () => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "assent-files-")));
  workspace = join(root, "workspace");
  await mkdir(join(workspace, "docs"), { recursive: true });
  writeFileSync(join(root, "secret.txt"), "secret");
  writeFileSync(join(workspace, "docs", "a b#1.md"), "# Hello");
});
afterEach(() => rmSync(root, { recursive: true }));

const uriOf = (...names: readonly string[]) => pathToFileURL(join(workspace, ...names)).href;
const hello = { name: "a b#1.md", size: 7, data: btoa("# Hello") };

test("a file of the workspace is read", async () => {
  await expect(readWorkspaceFile(uriOf("docs", "a b#1.md"), [root, workspace])).resolves.toEqual(
    hello,
  );
});

test("so is one of a window that shows another machine, which is this one", async () => {
  const uri = uriOf("docs", "a b#1.md").replace("file://", "vscode-remote://ssh-remote%2Bbox");
  await expect(readWorkspaceFile(uri, [workspace])).resolves.toEqual(hello);
});

test("a workspace that is opened by a link has its files", async () => {
  symlinkSync(workspace, join(root, "link"));
  await expect(readWorkspaceFile(uriOf("docs", "a b#1.md"), [join(root, "link")])).resolves.toEqual(
    hello,
  );
});

test("does not read a file that is too large", async () => {
  const path = join(workspace, "large");
  writeFileSync(path, "");
  truncateSync(path, 5_000_000);
  const read = await readWorkspaceFile(uriOf("large"), [workspace]);
  expect(read).toEqual({ name: "large", size: 5_000_000 });
});

test.each([
  ["beside the workspace", () => uriOf("..", "secret.txt")],
  ["by a way out", () => `${uriOf("docs")}/../../secret.txt`],
  ["by a way out in other letters", () => `${uriOf("docs")}/%2e%2e/%2e%2e/secret.txt`],
  [
    "by a link that leads out",
    () => {
      symlinkSync(join(root, "secret.txt"), join(workspace, "notes.txt"));
      return uriOf("notes.txt");
    },
  ],
  ["that is not there", () => uriOf("gone.txt")],
  ["of another kind", () => "untitled:Untitled-1"],
  ["of the web", () => "https://example.com/secret.txt"],
  ["that is no URI", () => "secret.txt"],
])("a file %s is refused", async (_, make) => {
  const uri = make();
  await expect(readWorkspaceFile(uri, [workspace])).rejects.toThrow(
    `${uri} is not a file of this workspace`,
  );
});

test("without a folder there is no file", async () => {
  await expect(readWorkspaceFile(uriOf("docs", "a b#1.md"), [])).rejects.toThrow("workspace");
});

test("refuses anything but a file, without waiting", async () => {
  await expect(readWorkspaceFile(uriOf("docs"), [workspace])).rejects.toThrow("docs is not a file");
  if (process.platform === "win32") return;
  execFileSync("mkfifo", [join(workspace, "pipe")]);
  await expect(readWorkspaceFile(uriOf("pipe"), [workspace])).rejects.toThrow("pipe is not a file");
});
