import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { readTheme } from "./theme.ts";

const themes = ["dark", "light", "hc", "hc-light"] as const;

beforeEach(() => {
  const style = document.createElement("style");
  const path = join(import.meta.dirname, "..", "..", "styles", "browser-theme.css");
  style.textContent = readFileSync(path, "utf8");
  document.head.append(style);
  document.body.dataset["host"] = "browser";
  return () => {
    style.remove();
    delete document.body.dataset["host"];
    delete document.body.dataset["theme"];
  };
});

function inTheme(name: string) {
  document.body.dataset["theme"] = name;
  return readTheme();
}

test("a theme is dark or light", () => {
  expect(themes.map((name) => inTheme(name).theme)).toEqual(["dark", "light", "dark", "light"]);
});

// An app keeps a variable that the next theme does not set: a light background in dark high contrast.
test.each(themes)("the theme %s sets what every other sets", (name) => {
  const names = new Set(themes.flatMap((each) => Object.keys(inTheme(each).variables)));
  expect(names).toContain("--color-background-info");
  expect(Object.keys(inTheme(name).variables).toSorted()).toEqual([...names].toSorted());
});

test("a notice has the page's ground with a trace of its text's colour", () => {
  expect(inTheme("hc").variables["--color-background-info"]).toBe(
    "color-mix(in srgb, #21a6ff 5%, #000000)",
  );
});
