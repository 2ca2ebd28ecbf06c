import type { Field } from "@assent/protocol";
import { act, fireEvent, render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, test, vi } from "vitest";
import { axeFindings } from "../../testing/axe.ts";
import { checkBy } from "../../testing/check.ts";
import { descriptionOf, isWrong } from "../../testing/dom.ts";
import { FieldsForm } from "./FieldsForm.tsx";
import { CheckContext } from "./useCheck.ts";

// What no kind server sends, and what a person can still make of it.

function show(fields: readonly Field[], check = checkBy()) {
  const onSubmit = vi.fn();
  const drawn = render(
    <CheckContext value={check}>
      <FieldsForm
        fields={fields}
        draft={undefined}
        onDraft={() => {}}
        disabled={false}
        refused={undefined}
        onSubmit={onSubmit}
      >
        <button type="submit">Submit</button>
      </FieldsForm>
    </CheckContext>,
  );
  return { ...drawn, onSubmit, user: userEvent.setup() };
}

const submit = () =>
  act(async () => {
    fireEvent.click(screen.getByRole("button", { name: "Submit" }));
  });

const many = Array.from({ length: 10_000 }, (_, n) => ({ value: `v${n}`, title: `Option ${n}` }));

describe("ten thousand options", () => {
  const city = { type: "choice", name: "c", title: "City", options: many } as const;

  test("of which one is chosen: a combobox finds it by its text", async () => {
    const { container, onSubmit, user } = show([{ ...city, required: true }]);
    const box = screen.getByRole<HTMLInputElement>("combobox", { name: "City" });
    expect(screen.queryByRole("listbox")).toBeNull();
    await user.click(box);
    expect(screen.getAllByRole("option")).toHaveLength(100);
    await user.type(box, "option 98");
    screen.getByText("111 of 10,000 found, the first 100 are shown.");
    expect(await axeFindings(container)).toEqual([]);
    await user.type(box, "76{Enter}");
    expect(box.value).toBe("Option 9876");
    expect(screen.queryByRole("listbox")).toBeNull();
    expect(onSubmit).not.toHaveBeenCalled();
    await submit();
    expect(onSubmit).toHaveBeenCalledExactlyOnceWith({ c: "v9876" });
  });

  test("of which one is chosen with the arrows, kept on Escape, and removed", async () => {
    const { onSubmit, user } = show([{ ...city, default: "v3" }]);
    const box = screen.getByRole<HTMLInputElement>("combobox", { name: "City" });
    const activeOption = () =>
      document.getElementById(box.getAttribute("aria-activedescendant") ?? "")?.textContent;
    await user.tab();
    expect(document.activeElement).toBe(box);
    await user.keyboard("{ArrowDown}");
    expect(activeOption()).toBe("Option 3");
    await user.keyboard("{ArrowDown}{ArrowDown}{ArrowUp}{Enter}");
    expect(box.value).toBe("Option 4");
    await user.type(box, "nothing like it{Escape}");
    expect(box.value).toBe("Option 4");
    await user.keyboard("{ArrowDown}");
    await user.type(box, "option 70", { initialSelectionStart: 0, initialSelectionEnd: 99 });
    await user.tab(); // a whole name
    expect(box.value).toBe("Option 70");
    await user.clear(box);
    await submit();
    expect(onSubmit).toHaveBeenCalledExactlyOnceWith({});
  });

  test("of which several are chosen", async () => {
    const { onSubmit, user } = show([
      { type: "choices", name: "c", title: "Cities", options: many, default: ["v5000"] },
    ]);
    const group = screen.getByRole("group", { name: "Cities" });
    within(group).getByRole("checkbox", { name: "Option 5000", checked: true });
    await user.type(within(group).getByRole("searchbox"), "option 777");
    expect(within(group).getAllByRole("checkbox")).toHaveLength(12);
    await user.click(within(group).getByRole("checkbox", { name: "Option 7777" }));
    await submit();
    expect(onSubmit).toHaveBeenCalledExactlyOnceWith({ c: ["v5000", "v7777"] });
  });
});

test("five hundred fields are all there, and a problem of the last one is found", async () => {
  const fields = Array.from(
    { length: 500 },
    (_, n): Field => ({ type: "string", name: `f${n}`, title: `Field ${n}`, required: n === 499 }),
  );
  const { onSubmit } = show(fields);
  expect(screen.getAllByRole("textbox")).toHaveLength(500);
  await submit();
  expect(onSubmit).not.toHaveBeenCalled();
  expect(document.activeElement).toBe(screen.getByRole("textbox", { name: "Field 499" }));
});

test("of a thousand fields, only the edited one renders again", () => {
  let drawn = 0;
  const fields = Array.from({ length: 1000 }, (_, n) => ({
    type: "string" as const,
    name: `f${n}`,
    // Drawing a field reads its title.
    get title() {
      drawn++;
      return `Field ${n}`;
    },
  }));
  show(fields);
  const field = screen.getByRole("textbox", { name: "Field 500" });
  drawn = 0;
  fireEvent.change(field, { target: { value: "x" } });
  expect(drawn).toBeGreaterThan(0);
  expect(drawn).toBeLessThan(50);
});

test("texts of 100 kB are cut short, and there for who wants them", async () => {
  const long = "long ".repeat(20_000);
  const { container, user } = show([
    {
      type: "choice",
      name: "c",
      title: `Title ${long}`,
      description: `About ${long}`,
      options: [{ value: "a", title: `Option ${long}` }],
    },
  ]);
  expect(container.textContent.length).toBeLessThan(5000);
  const [title, description] = screen.getAllByRole("button", { name: "Show all", expanded: false });
  await user.click(title ?? container);
  await user.click(description ?? container);
  expect(container.textContent).toContain(`About ${long}`.trim());
  expect(container.textContent).toContain(`Title ${long}`.trim());
});

test("characters that deceive are drawn by their names", () => {
  const { container } = show([
    {
      type: "choice",
      name: "c",
      title: "a\u202eb\u0007",
      description: "c\u200bd <b>e</b>",
      options: [{ value: "x", title: "f\u2066g" }],
    },
  ]);
  const text = container.textContent;
  for (const part of ["a[U+202E]b[U+0007]", "c[U+200B]d <b>e</b>", "f[U+2066]g"]) {
    expect(text).toContain(part);
  }
});

test("a default that violates its own bounds is shown, and told before it goes", async () => {
  const { onSubmit } = show(
    [
      { type: "string", name: "s", title: "S", maxLength: 2, default: "long" },
      { type: "number", name: "n", title: "N", integer: true, default: 2.5 },
    ],
    checkBy({
      s: (value) => (value === "long" ? "maxLength" : undefined),
      n: (value) => (value === 2.5 ? "type" : undefined),
    }),
  );
  await submit();
  expect(onSubmit).not.toHaveBeenCalled();
  expect(isWrong(screen.getByRole("textbox", { name: "S" }))).toBe(true);
  expect(isWrong(screen.getByRole("textbox", { name: "N" }))).toBe(true);
});

test("a pattern that cannot be checked is told, and does not stand in the way", async () => {
  const { onSubmit } = show([
    {
      type: "string",
      name: "s",
      title: "S",
      pattern: "^(?=x)",
      patternUnchecked: true,
      default: "y",
    },
  ]);
  expect(descriptionOf(screen.getByRole("textbox", { name: "S" }))).toBe(
    "The server expects ^(?=x), which Assent cannot check.",
  );
  await submit();
  expect(onSubmit).toHaveBeenCalledExactlyOnceWith({ s: "y" });
});
