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
])("%s is no link", (text) => {
  const { container } = render(<Markdown text={text} />);
  expect(container.querySelector("a")).toBeNull();
  expect(container.textContent).toBe("x");
});

test("HTML is not run and not drawn", () => {
  const { container } = render(
    <Markdown text={'<script>alert(1)</script><form><input name="password"></form> after'} />,
  );
  expect(container.querySelector("script, form, input")).toBeNull();
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
