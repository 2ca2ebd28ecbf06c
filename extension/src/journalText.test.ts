import type { JournalRecord } from "@assent/protocol";
import { expect, test } from "vitest";
import { journalArgs, journalText } from "./journalText.ts";

const record: JournalRecord = {
  seq: 1,
  at: 0,
  kind: "askOpened",
  serverName: "s",
  body: { text: "a\nb" },
  hash: "h",
};

test("a record is a line, with the whole of it indented below", () => {
  const text = journalText({ records: [record], lines: ["   1  asks"] }, "everything", ["assent"]);
  expect(text).toContain("Assent's journal: everything, oldest first.");
  const [line, ...rest] = text.slice(text.indexOf("1  asks")).trimEnd().split("\n");
  expect(text).toContain("\n1  asks\n"); // folds only its own record
  expect(line).toBe("1  asks");
  expect(rest.every((l) => l.startsWith("        "))).toBe(true);
  expect(JSON.parse(rest.join("\n"))).toEqual(record);
});

test("names omitted records", () => {
  expect(journalText({}, "everything", [])).toContain("It is empty.");
  expect(journalText({ earlier: true }, "everything", [])).toContain("Only the newest records");
});

test("the command to verify can be pasted into a shell", () => {
  const text = journalText({}, "everything", ["/a b/assent", ...journalArgs("verify", '/c"$d')]);
  expect(text).toContain('"/a b/assent" journal verify --data-dir "/c\\"\\$d"');
});

test("exports the chosen part", () => {
  expect(journalArgs("export", "/d", { serverName: "s" })).toEqual(
    "journal export --data-dir /d --server s".split(" "),
  );
  expect(journalArgs("export", "/d", { taskId: "t" })).toEqual(
    "journal export --data-dir /d --task t".split(" "),
  );
});
