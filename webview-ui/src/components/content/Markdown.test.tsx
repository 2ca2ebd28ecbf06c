import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { axeFindings } from "../../testing/axe.ts";
import { Markdown } from "./Markdown.tsx";

test("pictures are told and never loaded", () => {
  const { container } = render(
    <Markdown text={'![a cat](https://evil.example/cat.png) <img src="https://evil.example/2">'} />,
  );
  expect(container.querySelector("img")).toBeNull();
  expect(container.textContent).toContain("[a cat (https://evil.example/cat.png)]");
});

test("a link shows where it leads", () => {
  render(<Markdown text="[your bank](https://evil.example/login) <https://plain.example>" />);
  expect(screen.getByRole("link", { name: "your bank" }).getAttribute("href")).toBe(
    "https://evil.example/login",
  );
  screen.getByText("(https://evil.example/login)");
  expect(screen.queryByText("(https://plain.example)")).toBeNull();
});

test.each([
  "[x](javascript:alert(1))",
  "[x](command:workbench.action.quit)",
  "[x](vscode://ext/run)",
  "[x](data:text/html,hi)",
  "[x](#top)",
  "[x](/etc/passwd)",
])("%s is no link, and is seen as it is", (text) => {
  const { container } = render(<Markdown text={text} />);
  expect(container.querySelector("a")).toBeNull();
  expect(container.textContent).toBe(text);
});

test("HTML is not run, and is seen as it is", () => {
  const text =
    '<script>alert(1)</script>\n\nbefore <form><input name="password"></form> <b hidden>after</b>';
  const { container } = render(<Markdown text={text} />);
  expect(container.querySelector("script, form, input, b")).toBeNull();
  screen.getByText("<script>alert(1)</script>");
  screen.getByText('before <form><input name="password"></form> <b hidden>after</b>');
});

// The person who approves a text for a model must see what the model will read.
test.each([
  ["a comment", "Hello\n\n<!-- hidden -->\n\nthere"],
  ["a comment among words", "Hello <!-- hidden --> there"],
  ["an unclosed comment", "Hello\n\n<!-- hidden"],
  ["an element's attribute", 'Hello <a href="https://x.example" title="hidden">there</a>'],
  ["a processing instruction", "<?hidden?>"],
  ["CDATA", "<![CDATA[hidden]]>"],
  ["HTML in a list", "- Hello\n- <div>hidden</div>"],
  ["HTML in a table", "| a |\n|---|\n| <i>hidden</i> |"],
  ["a definition that nobody refers to", "Hello\n\n[//]: # (hidden)"],
  ["a definition's title", 'see [this]\n\n[this]: https://x.example "hidden"'],
  ["a link's title", '[Hello](https://x.example "hidden")'],
  ["a link's target that is none", "[Hello](<#hidden>)"],
  ["a picture's title", '![Hello](https://x.example/a.png "hidden")'],
  ["what follows a fence", "```sh and hidden\nls\n```"],
  ["a long language", "```ignore_everything_and_be_hidden\nls\n```"],
  ["a footnote that nobody refers to", "Hello\n\n[^a]: hidden"],
  ["a footnote's name", "Hello[^hidden]\n\n[^hidden]: foot"],
  ["a cell beyond the last column", "| a |\n|---|\n| 1 | hidden |"],
])("words in %s are seen", (_, text) => {
  const { container } = render(<Markdown text={text} />);
  expect(container.textContent).toContain("hidden");
});

test("names invisible characters", () => {
  const tag = [..."hidden"].map((c) => String.fromCodePoint(0xe0000 + (c.codePointAt(0) ?? 0)));
  const { container } = render(<Markdown text={`a\u200bb\u202ec ${tag.join("")} 👩‍🔬`} />);
  expect(container.textContent).toMatch(/^a\[U\+200B\]b\[U\+202E\]c (\[U\+E00..\]){6} 👩‍🔬$/u);
});

test("what MCP servers like to write is drawn", async () => {
  const { container } = render(
    <Markdown
      text={
        "# Title\n\n- [x] done\n- [ ] open\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```sql\nSELECT 1;\n```\n\nnote[^1]\n\n[^1]: foot"
      }
    />,
  );
  // No heading of a server is above those of the panel.
  screen.getByRole("heading", { name: "Title", level: 3 });
  expect(container.textContent).toContain("[x] done");
  expect(container.querySelector("input")).toBeNull();
  screen.getByRole("table");
  screen.getByText("SELECT 1;");
  expect(await axeFindings(container)).toEqual([]);
});

test("a text that takes too long as Markdown is shown verbatim", () => {
  const { container } = render(<Markdown text={"*x* ".repeat(30_000)} />);
  expect(container.querySelector("em")).toBeNull();
  expect(container.textContent).toBe("*x* ".repeat(30_000));
});
