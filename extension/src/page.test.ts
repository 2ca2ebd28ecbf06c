import { expect, test } from "vitest";
import { page } from "./page.ts";

const options = { base: "dist", source: "self", nonce: "n" } as const;

test("a page without translations is English", () => {
  const html = page(options);
  expect(html).toContain('<html lang="en">');
  expect(html).toContain('<body data-host="vscode">');
});

test("the state of an earlier page stays in its attribute with any text", () => {
  const view = { drafts: { a: { text: `"><script>&quot;` } } };
  const html = page({ ...options, view });
  const [, written = ""] = /data-view="([^"]*)"/.exec(html) ?? [];
  const read = written.replaceAll("&quot;", '"').replaceAll("&amp;", "&");
  expect(JSON.parse(read)).toEqual(view);
});

test("translations stay in their attribute with any text", () => {
  const texts = { "{0} asks": `{0} sagt "><script>&quot;` };
  const html = page({ ...options, translation: { language: "de", texts } });
  expect(html).toContain('<html lang="de">');
  const [, written = ""] = /data-texts="([^"]*)"/.exec(html) ?? [];
  const read = written.replaceAll("&quot;", '"').replaceAll("&amp;", "&");
  expect(JSON.parse(read)).toEqual(texts);
});
