import { describe, expect, test } from "vitest";
import { webUrl } from "./webUrl.ts";

describe("a URL to open", () => {
  test.each([
    ["https://example.org/a?b=c%26d#e", "https://example.org/a?b=c%26d#e"],
    ["http://127.0.0.1:8080", "http://127.0.0.1:8080/"],
    // A Cyrillic letter that looks like a Latin one, and a mark that reverses the text after it.
    ["https://ex\u0430mple.org/\u202egpj.exe", "https://xn--exmple-4nf.org/%E2%80%AEgpj.exe"],
    [" https://example.org/\n", "https://example.org/"],
  ])("%j is shown as %s", (text, want) => {
    expect(webUrl(text)).toBe(want);
  });

  test.each([
    ["", /not a URL/],
    ["/etc/passwd", /not a URL/],
    ["file:///etc/passwd", /begins with file:/],
    ["javascript:alert(1)", /begins with javascript:/],
    ["vscode://ext/run", /begins with vscode:/],
    ["https://bank.example@evil.example/", /user name/],
  ])("%j is refused", (text, why) => {
    expect(() => webUrl(text)).toThrow(why);
  });
});
