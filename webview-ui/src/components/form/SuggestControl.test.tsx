import type { CompleteResult } from "@assent/protocol";
import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import { axeFindings } from "../../testing/axe.ts";
import { valueIn } from "../../testing/dom.ts";
import { type Complete, FieldsForm } from "./FieldsForm.tsx";

const languages = ["go", "python", "typescript"];

function show(complete: Complete) {
  const onSubmit = vi.fn();
  const { container } = render(
    <FieldsForm
      fields={[
        { type: "string", name: "language", title: "Language", required: true },
        { type: "string", name: "style", title: "Style" },
      ]}
      draft={undefined}
      onDraft={() => {}}
      disabled={false}
      refused={undefined}
      complete={complete}
      onSubmit={onSubmit}
    >
      <button type="submit">Go</button>
    </FieldsForm>,
  );
  const language = screen.getByRole("combobox", { name: "Language" });
  return { container, onSubmit, language, user: userEvent.setup() };
}

const startingWith = async ({ value = "" }): Promise<CompleteResult> => ({
  values: languages.filter((name) => name.startsWith(value)),
});

test("proposals come as one types, and one is taken with the keyboard", async () => {
  const complete = vi.fn(startingWith);
  const { container, onSubmit, language, user } = show(complete);
  await user.type(screen.getByRole("combobox", { name: "Style" }), "short");
  await user.click(language);
  await screen.findByRole("option", { name: "typescript" });
  await user.keyboard("p");
  await waitFor(() => expect(screen.getAllByRole("option")).toHaveLength(1));
  screen.getByText("1 suggestion");
  expect(await axeFindings(container)).toEqual([]);
  await user.keyboard("{ArrowDown}");
  const option = screen.getByRole("option", { name: "python", selected: true });
  expect(language.getAttribute("aria-activedescendant")).toBe(option.id);
  await user.keyboard("{Enter}");
  expect(valueIn(language)).toBe("python");
  expect(screen.queryByRole("listbox")).toBeNull();
  expect(onSubmit).not.toHaveBeenCalled();
  await user.keyboard("{Enter}");
  expect(onSubmit).toHaveBeenCalledWith({ language: "python", style: "short" });
  expect(complete).toHaveBeenLastCalledWith(
    { argumentName: "language", value: "p", arguments: { style: "short" } },
    expect.anything(),
  );
});

test("a suggestion is chosen with the mouse, and other texts can be typed", async () => {
  const { onSubmit, language, user } = show(startingWith);
  await user.click(language);
  await user.click(await screen.findByRole("option", { name: "go" }));
  expect(valueIn(language)).toBe("go");
  expect(document.activeElement).toBe(language);
  await user.type(language, "lang{Enter}");
  expect(onSubmit).toHaveBeenCalledWith({ language: "golang" });
});

test("the typed text itself is not suggested", async () => {
  const { language, user } = show(startingWith);
  await user.type(language, "g");
  await screen.findByRole("option", { name: "go" });
  await user.type(language, "o");
  await waitFor(() => expect(screen.queryByRole("listbox")).toBeNull());
});

test("Escape puts the proposals away and nothing else, and ArrowDown brings them back", async () => {
  const { language, user } = show(startingWith);
  await user.click(language);
  await screen.findByRole("listbox");
  await user.keyboard("{Escape}");
  expect(screen.queryByRole("listbox")).toBeNull();
  await user.keyboard("{ArrowDown}");
  await screen.findByRole("listbox");
  await user.tab(); // to the next field, which has proposals of its own
  expect(language.getAttribute("aria-expanded")).toBe("false");
});

test("a late answer to an earlier text is not shown", async () => {
  const answers = new Map<string, (result: CompleteResult) => void>();
  const signals = new Map<string, AbortSignal>();
  const { language, user } = show(
    ({ value }, signal) =>
      new Promise((resolve) => {
        answers.set(value, resolve);
        signals.set(value, signal);
      }),
  );
  await user.click(language);
  await waitFor(() => expect(answers.has("")).toBe(true));
  await user.keyboard("g");
  await waitFor(() => expect(answers.has("g")).toBe(true));
  expect(signals.get("")?.aborted).toBe(true);
  answers.get("g")?.({ values: ["go"], hasMore: true });
  await screen.findByText("1 suggestion, and there are more");
  answers.get("")?.({ values: languages });
  await user.keyboard("{ArrowDown}");
  expect(screen.getAllByRole("option")).toHaveLength(1);
});

test("a server that cannot say is no obstacle, and is not passed over in silence", async () => {
  const { onSubmit, language, user } = show(() => Promise.reject(new Error("It is broken.")));
  await user.type(language, "go");
  await screen.findByText("No suggestions: It is broken.");
  await user.keyboard("{Enter}");
  expect(onSubmit).toHaveBeenCalledWith({ language: "go" });
});

test("a hostile server's proposals are bounded", async () => {
  const values = Array.from({ length: 5000 }, (_, n) => `v${n % 4000}`);
  const { language, user } = show(async () => ({ values }));
  await user.click(language);
  await screen.findByText("100 suggestions");
});

test("a text of several lines keeps them", async () => {
  const { onSubmit, language, user } = show(async () => ({}));
  await user.type(language, "ac");
  await user.keyboard("{ArrowLeft}");
  await user.paste("1\r\n2");
  const area = screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Language" });
  expect(document.activeElement).toBe(area);
  await user.keyboard("b");
  expect(area.value).toBe("a1\n2bc");
  await user.keyboard("{Enter}");
  expect(onSubmit).toHaveBeenCalledWith({ language: "a1\n2bc" });
});
