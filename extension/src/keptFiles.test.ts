import { mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AttachedFile } from "@assent/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { KeptFiles } from "./keptFiles.ts";

let root: string;
let folder: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "assent-kept-"));
  folder = join(root, "kept");
});
afterEach(() => rmSync(root, { recursive: true }));

const file = (text: string): AttachedFile => ({
  name: "notes.txt",
  content: { type: "text", text },
});
const age = (id: string, days: number) => {
  const then = new Date(Date.now() - days * 86_400_000);
  utimesSync(join(folder, `${id}.json`), then, then);
};

test("a stored file is there in the next session until it is removed, and readable only by the person", async () => {
  const kept = new KeptFiles(folder);
  const { id } = await kept.keep(file("Buy milk."));
  const other = await kept.keep(file("Sell milk."));
  if (process.platform !== "win32") {
    expect(statSync(join(folder, `${id}.json`)).mode & 0o077).toBe(0);
  }
  const next = new KeptFiles(folder);
  await expect(next.read(id)).resolves.toEqual({ file: file("Buy milk.") });
  await next.forget([id]);
  await expect(next.read(id)).resolves.toEqual({});
  await expect(next.read(other.id)).resolves.toEqual({ file: file("Sell milk.") });
  await next.forget([id]);
});

test("removes the oldest files if there are too many", async () => {
  const kept = new KeptFiles(folder);
  const large = file("x".repeat(15 * 1024 * 1024));
  const ids: string[] = [];
  for (const days of [5, 4, 3, 2, 1]) {
    const { id } = await kept.keep(large);
    age(id, days);
    ids.push(id);
  }
  const { id } = await kept.keep(file("new"));
  const left = [...ids.slice(1), id].map((name) => `${name}.json`);
  expect(readdirSync(folder).toSorted()).toEqual(left.toSorted());
});

test("removes a file that was not sent for a month", async () => {
  const kept = new KeptFiles(folder);
  const { id } = await kept.keep(file("old"));
  age(id, 31);
  await kept.keep(file("new"));
  await expect(kept.read(id)).resolves.toEqual({});
});

test("no other file of the machine can be named", async () => {
  writeFileSync(join(root, "secret.json"), "{}");
  const kept = new KeptFiles(folder);
  await expect(kept.read("../secret")).rejects.toThrow("not the id");
  await expect(kept.forget(["../secret"])).rejects.toThrow("not the id");
  expect(readdirSync(root)).toContain("secret.json");
});
