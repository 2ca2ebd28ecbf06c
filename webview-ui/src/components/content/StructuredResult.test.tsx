import type { ToolResult } from "@assent/protocol";
import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import { axeFindings } from "../../testing/axe.ts";
import { StructuredResult, shownParts } from "./StructuredResult.tsx";

let lastId = 0;

function show(part: Partial<ToolResult>) {
  const result: ToolResult = { type: "result", ...part };
  return render(
    <StructuredResult result={result} parts={shownParts(result)} keep={`structured${++lastId}`} />,
  );
}

/** Like the sidecar, it gives the text if a double cannot hold a number. */
const exact = (text: string) => ({ structuredContent: JSON.parse(text), structuredText: text });

const cellsOf = (row: HTMLElement) =>
  within(row)
    .getAllByRole("cell")
    .map(({ textContent }) => textContent);

test("a list of flat objects is a table, also in an object", async () => {
  const { container } = show({
    structuredContent: {
      total: 2,
      users: [
        { id: 1, name: "Ada", admin: true },
        { id: 2, email: null, name: "Lin\u202ee" },
      ],
    },
  });
  const table = screen.getByRole("table");
  const headings = within(table).getAllByRole("columnheader");
  expect(headings.map(({ textContent }) => textContent)).toEqual(["id", "name", "admin", "email"]);
  const [, first, second] = within(table).getAllByRole("row");
  expect(cellsOf(first as HTMLElement)).toEqual(["1", "Ada", "true", ""]);
  expect(cellsOf(second as HTMLElement)).toEqual(["2", "Lin[U+202E]e", "", "null"]);
  screen.getByRole("group", { name: "Table users" });
  expect(container.textContent).toContain("total 2");
  expect(await axeFindings(container)).toEqual([]);
});

test("everything else is a tree that opens and closes", async () => {
  const user = userEvent.setup();
  show({ structuredContent: { a: { b: { c: [1, [2]] } }, none: [], empty: {} } });
  expect(screen.queryByText("c")).toBeNull();
  await user.click(screen.getByText("b"));
  await user.click(await screen.findByText("c"));
  await screen.findByText("2 items");
  screen.getByText("[]");
  screen.getByText("{}");
});

test("numbers keep their digits, in a table, in a tree and as JSON", async () => {
  const user = userEvent.setup();
  const writeText = vi.spyOn(navigator.clipboard, "writeText");
  show(exact('{"rows":[{"id":9007199254740993}],"one":1e400}'));
  screen.getByRole("cell", { name: "9007199254740993" });
  screen.getByText("1e400");
  await user.click(screen.getByRole("button", { name: "Raw JSON", pressed: false }));
  screen.getByText(/"id": 9007199254740993/);
  expect(screen.queryByRole("table")).toBeNull();
  await user.click(screen.getByRole("button", { name: "Copy as JSON" }));
  expect(writeText).toHaveBeenCalledWith(expect.stringContaining("9007199254740993"));
  await user.click(screen.getByRole("button", { name: "Raw JSON", pressed: true }));
  screen.getByRole("table");
});

test("what is not as declared is said, and the result is shown", () => {
  show({ structuredContent: { id: "one" }, mismatches: ["id is a text, and must be a number."] });
  screen.getByText("The result is not what the tool declares:");
  screen.getByText("id is a text, and must be a number.");
  screen.getByText("one");
});

test("a result of 5 MB is drawn in steps", async () => {
  const user = userEvent.setup();
  const rows = Array.from({ length: 50_000 }, (_, id) => ({ id, text: "x".repeat(80) }));
  const { container } = show({ structuredContent: { rows, text: "y".repeat(1_000_000) } });
  expect(screen.getAllByRole("row")).toHaveLength(51);
  await user.click(screen.getByRole("button", { name: "Show more (50 of 50,000 are shown)" }));
  expect(screen.getAllByRole("row")).toHaveLength(251);
  expect(container.textContent?.length).toBeLessThan(50_000);
  await user.click(screen.getByRole("button", { name: /2,000 of 1,000,000 characters/ }));
  screen.getByRole("button", { name: /22,000 of 1,000,000 characters/ });
  await user.click(screen.getByRole("button", { name: "Raw JSON" }));
  expect(container.textContent?.length).toBeLessThan(50_000);
  await user.click(screen.getByRole("button", { name: /20,000 of .* characters/ }));
  expect(container.querySelector("pre")?.textContent).toHaveLength(40_000);
});

test("a result that says the same twice is shown once", () => {
  const words = { type: "text", text: "hello" } as const;
  const parts = (structuredContent: unknown) =>
    shownParts({ type: "result", content: [words], structuredContent, repeats: [0] });
  expect(parts({ result: "hello" })).toEqual({ content: [words], structured: false });
  expect(parts("hello")).toEqual({ content: [words], structured: false });
  expect(parts({ result: ["hello"] })).toEqual({ content: [], structured: true });
  expect(parts({ text: "hello" })).toEqual({ content: [], structured: true });
  expect(shownParts({ type: "result", content: [words], structuredContent: {} })).toEqual({
    content: [words],
    structured: true,
  });
});
