import { render } from "@testing-library/react";
import * as l10n from "@vscode/l10n";
import { afterEach, expect, test, vi } from "vitest";
import { filled, listed, loadTexts, plural } from "./l10n.ts";

afterEach(() => l10n.config({ contents: {} }));

function load(texts: string): void {
  const body = document.createElement("body");
  body.dataset["texts"] = texts;
  loadTexts(body);
}

test("a text is in the language of the page's bundle, and English where that lacks it", () => {
  load(JSON.stringify({ "{0} asks": "{0} fragt" }));
  expect(l10n.t("{0} asks", "database")).toBe("database fragt");
  expect(l10n.t("Decline")).toBe("Decline");
});

test("a text that has a comment is one beside the same without", () => {
  const comment = ["How long."];
  load(
    JSON.stringify({ "for {0}": "für {0}", "for {0}/How long.": { message: "seit {0}", comment } }),
  );
  expect(l10n.t("for {0}", "mail")).toBe("für mail");
  expect(l10n.t({ message: "for {0}", args: ["5 s"], comment })).toBe("seit 5 s");
});

test("skips invalid translations", () => {
  load(JSON.stringify({ Decline: 7, Submit: "Senden" }));
  expect([l10n.t("Decline"), l10n.t("Submit")]).toEqual(["Decline", "Senden"]);
});

test.each(["null", "3", "[]"])("a bundle that is %s costs the language alone", (texts) => {
  load(texts);
  expect(l10n.t("Decline")).toBe("Decline");
});

test("a bundle that is no JSON is told", () => {
  const told = vi.fn();
  vi.stubGlobal("reportError", told);
  load("{");
  vi.unstubAllGlobals();
  expect(told).toHaveBeenCalledOnce();
  expect(l10n.t("Decline")).toBe("Decline");
});

test("numbers come with their noun", () => {
  const tokens = (n: number) => plural(n, "1 token of {1}", "{0} tokens of {1}", "a {0}");
  expect([0, 1, 2, 1500].map(tokens)).toEqual([
    "0 tokens of a {0}",
    "1 token of a {0}",
    "2 tokens of a {0}",
    "1,500 tokens of a {0}",
  ]);
});

test("elements stand where the text says", () => {
  const { container } = render(filled("{1} of {0}.", <b>database</b>, "the tool {0}"));
  expect(container.innerHTML).toBe("the tool {0} of <b>database</b>.");
});

test("a list is in the language of the page", () => {
  expect(listed(["a", "b"])).toBe("a and b");
  document.documentElement.lang = "de";
  expect(listed(["a", "b"])).toBe("a und b");
  document.documentElement.lang = "";
});
