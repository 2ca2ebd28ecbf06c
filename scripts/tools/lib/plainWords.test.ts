import { describe, expect, test } from "vitest";
import { comments, goTexts, jsonTexts, type Marked, measure, rate } from "./plainWords.ts";

/** The comments of each language, and how many constructions 1,000 lines of them may have. */
const languages = [
  {
    language: "Go",
    folders: ["protocol", "scripts", "sidecar"],
    name: /\.go$/,
    comment: /(?:^|\s)\/\/ (.*)$/,
    limit: 8,
  },
  {
    language: "TypeScript",
    folders: ["extension/src", "protocol", "scripts", "webview-ui/src"],
    name: /\.(mjs|tsx?)$/,
    comment: /(?:^|\s)(?:\/\/|\/\*\*|\*) (.*)$/,
    limit: 8,
  },
];

/** The lines that a failing test shows, with what to write instead. */
const shown = (marked: readonly Marked[]): readonly string[] =>
  marked.map(({ place, text, instead }) => `${place}: ${text} (${instead.join("; ")})`);

describe("the comments", () => {
  test.each(languages)("of $language are plain", async ({ folders, name, comment, limit }) => {
    const measured = measure(await comments(folders, name, comment));
    expect(measured.lines).toBeGreaterThan(1000);
    const tooMany = rate(measured) > limit ? shown(measured.marked) : [];
    expect(tooMany).toEqual([]);
  });
});

describe("the texts", () => {
  test("of the sidecar are plain", async () => {
    const isSchema = /\b(ALTER|CREATE) TABLE\b/;
    const texts = (await goTexts(["protocol", "sidecar"])).filter(
      ([, text]) => !isSchema.test(text),
    );
    expect(texts.length).toBeGreaterThan(500);
    expect(shown(measure(texts).marked)).toEqual([]);
  });

  test("of the extension and the panel are plain", async () => {
    const texts = await jsonTexts([
      "extension/l10n/bundle.l10n.json",
      "extension/package.nls.json",
    ]);
    expect(texts.length).toBeGreaterThan(500);
    expect(shown(measure(texts).marked).length).toBe(0);
  });
});

describe("the texts for a person", () => {
  test("do not say how Assent is built", async () => {
    const texts = [
      ...(await goTexts(["protocol", "sidecar"])),
      ...(await jsonTexts(["extension/l10n/bundle.l10n.json", "extension/package.nls.json"])),
    ];
    const saying = texts.filter(
      ([file, text]) =>
        !file.includes("/rpctest/") &&
        /\bsidecar/i.test(text.replaceAll(/\(command:[\w.]+\)/g, "")),
    );
    expect(saying).toEqual([]);
  });
});

describe("a measurement", () => {
  test("counts each construction of a line", () => {
    const measured = measure([
      ["a:1", "Whoever waits is told what was kept."],
      ["a:2", "The caller gets the saved state."],
    ]);
    expect(measured.marked.map(({ place, instead }) => [place, instead.length])).toEqual([
      ["a:1", 2],
    ]);
    expect(rate(measured)).toBe(1000);
  });

  test("takes no part of a word for a construction", () => {
    expect(measure([["a:1", "The recommended amendment is unread."]]).marked).toEqual([]);
  });
});
