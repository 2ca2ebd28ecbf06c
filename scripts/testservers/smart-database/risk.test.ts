import { expect, test } from "vitest";
import { says } from "../kit/testing/talk.ts";
import { readPerson } from "./confirm.mjs";
import { readNote, readRisk } from "./risk.mjs";
import { table } from "./tools/tool.mjs";

test.each([
  ["LOW: few users.", "LOW", "few users."],
  ["medium – because of orders", "MEDIUM", "because of orders"],
  ["**HIGH**: all of them.", "HIGH", "all of them."],
  ["Risk: HIGH. No way back.", "HIGH", "No way back."],
  ["**Risk level:** Medium - some have orders", "MEDIUM", "some have orders"],
  ["Let me think.\n\nLOW: few users.\nShall I go on?", "LOW", "few users."],
  ["LOW", "LOW", "the model gave no reason"],
  [`HIGH: ${"x".repeat(1000)}`, "HIGH", `${"x".repeat(299)}…`],
  ["", "UNKNOWN", "the model said nothing"],
  ["The risk is not low.", "UNKNOWN", 'the model said "The risk is not low."'],
  ["lower than you think", "UNKNOWN", 'the model said "lower than you think"'],
])("of %j it reads %s", (text, level, reason) => {
  expect(readRisk(says(text))).toEqual({ level, reason });
});

test.each([
  [undefined, "this client has no model to ask"],
  [
    { error: { code: -1, message: "refused\nby policy" } },
    "the model was not asked: refused by policy",
  ],
  [{}, "the model said nothing"],
  [{ content: null }, "the model said nothing"],
  [{ content: [null, 1, { type: "image", data: "" }, { type: "text" }] }, "the model said nothing"],
])("an answer like %j is none", (answer, reason) => {
  expect(readRisk(answer)).toEqual({ level: "UNKNOWN", reason });
});

test("content may be an array of blocks", () => {
  const content = [{ type: "text", text: "LOW: few." }];
  expect(readRisk({ content })).toEqual({ level: "LOW", reason: "few." });
});

test("a note is one paragraph, of the model that says that it wrote it", () => {
  const plan = { days: 730, count: 30 } as Parameters<typeof readNote>[1];
  expect(readNote(says("Gone.\nAll.\n\n(Really.)"), plan, "tidy")).toEqual({
    text: "Gone. All.",
    by: "played",
  });
  const plain = {
    text: "30 users without a login for 730 days were deleted. Reason: tidy",
    by: "smart-database",
  };
  for (const answer of [undefined, {}, { error: { message: "no" } }, says(" \n ")]) {
    expect(readNote(answer, plan, "tidy")).toEqual(plain);
  }
  expect(readNote(says("x".repeat(5000)), plan, "tidy").text).toHaveLength(1000);
});

test("the backup is kept unless the person says so", () => {
  const kept = (content: object) =>
    readPerson({ action: "accept", content: { confirm: true, reason: "tidy up", ...content } });
  expect(kept({})).toEqual({ yes: true, reason: "tidy up", backup: true });
  expect(kept({ keep_backup: "no" })).toMatchObject({ backup: true });
  expect(kept({ keep_backup: false })).toMatchObject({ backup: false });
});

test("data in a table stays data", () => {
  expect(table([{ a: "x|y\n| z |", b: "[a](b) <i>" }])).toBe(
    "| a | b |\n| --- | --- |\n| x\\|y \\| z \\| | \\[a\\](b) \\<i\\> |",
  );
  expect(table([])).toBe("(none)");
});
