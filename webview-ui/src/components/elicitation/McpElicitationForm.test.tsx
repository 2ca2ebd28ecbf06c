import type { Field } from "@assent/protocol";
import { fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, test, vi } from "vitest";
import { axeFindings } from "../../testing/axe.ts";
import { checkBy } from "../../testing/check.ts";
import { descriptionOf, isWrong, valueIn } from "../../testing/dom.ts";
import { dismiss } from "../../testing/menu.ts";
import { elicitation, stringField } from "../../testing/samples.ts";
import { CheckContext } from "../form/useCheck.ts";
import { McpElicitationForm, type McpElicitationFormProps } from "./McpElicitationForm.tsx";

// The half second before an ask can be answered has a test of its own.
vi.mock("../ask/useClickGuard.ts", () => ({ useClickGuard: () => true }));

type Data = Omit<
  McpElicitationFormProps,
  "onDraft" | "onAccept" | "onDecline" | "onDeclineAll" | "onCancel"
>;

function props(fields: readonly Field[], part: Partial<Data> = {}) {
  return {
    askId: "a1",
    serverName: "database",
    toolNames: ["cleanup"],
    request: elicitation(fields).elicitationRequest,
    busy: false,
    refusal: undefined,
    problems: undefined,
    draft: undefined,
    onDraft: vi.fn<McpElicitationFormProps["onDraft"]>(),
    onAccept: vi.fn<McpElicitationFormProps["onAccept"]>(),
    onDecline: vi.fn<McpElicitationFormProps["onDecline"]>(),
    onDeclineAll: vi.fn<() => void>(),
    onCancel: vi.fn<McpElicitationFormProps["onCancel"]>(),
    ...part,
  };
}

function show(fields: readonly Field[], part: Partial<Data> = {}, check = checkBy()) {
  const given = props(fields, part);
  const drawn = render(<McpElicitationForm {...given} />, {
    wrapper: ({ children }) => <CheckContext value={check}>{children}</CheckContext>,
  });
  return { ...given, ...drawn, user: userEvent.setup() };
}

const submit = () => screen.getByRole("button", { name: "Submit" });

/** Waits until an element has the focus, which moves after the answer is checked. */
const focused = (element: Element) => waitFor(() => expect(document.activeElement).toBe(element));

const everyKind: readonly Field[] = [
  { type: "string", name: "text", title: "Text", description: "Any words." },
  { type: "string", name: "email", title: "Email", format: "email" },
  { type: "string", name: "site", title: "Site", format: "uri" },
  { type: "string", name: "day", title: "Day", format: "date" },
  { type: "string", name: "moment", title: "Moment", format: "date-time" },
  { type: "number", name: "ratio", title: "Ratio", minimum: -1 },
  { type: "number", name: "rows", title: "Rows", integer: true, minimum: 0, maximum: 5000 },
  { type: "boolean", name: "stamps", title: "Time stamps", description: "On each line." },
  { type: "boolean", name: "sure", title: "Sure", required: true },
  {
    type: "choice",
    name: "format",
    title: "Format",
    required: true,
    options: [{ value: "json" }, { value: "md", title: "Markdown" }],
  },
  {
    type: "choice",
    name: "zone",
    title: "Zone",
    options: ["a", "b", "c", "d", "e"].map((value) => ({ value, title: `Zone ${value}` })),
  },
  {
    type: "choices",
    name: "labels",
    title: "Labels",
    minItems: 1,
    maxItems: 2,
    options: [{ value: "u", title: "Urgent" }, { value: "f", title: "Finance" }, { value: "l" }],
  },
  {
    type: "choice",
    name: "count",
    title: "Count",
    options: [
      { value: "1", json: "1" },
      { value: "2", json: "2", title: "Two" },
    ],
  },
  { type: "list", name: "tags", title: "Tags", item: { type: "string", name: "" } },
  { type: "list", name: "ports", title: "Ports", item: { type: "number", name: "" } },
  { type: "list", name: "flags", title: "Flags", item: { type: "boolean", name: "" } },
  { type: "json", name: "extra", title: "Extra", schema: {} },
];

test("the card says who asks, during what, and what", () => {
  show([]);
  const card = screen.getByRole("region", { name: "database asks" });
  within(card).getByText("during the tool call cleanup");
  within(card).getByRole("heading", { name: "Delete 1,204 rows?" });
});

test("where the server's era leaves the call open, so does the card", () => {
  show([], { toolNames: ["cleanup", "count"] });
  screen.getByText("during one of the tool calls cleanup, count");
});

test("a card says which resource is read when the server asks", () => {
  show([], { toolNames: [], resourceUri: "notes://today" });
  screen.getByText("while notes://today is read");
});

test("every kind of field sends exactly its value", async () => {
  const { user, onAccept } = show(everyKind);
  await user.type(screen.getByRole("textbox", { name: "Text" }), "two{Shift>}{Enter}{/Shift}lines");
  await user.type(screen.getByRole("textbox", { name: "Email" }), "ä@exämple.com");
  await user.type(screen.getByRole("textbox", { name: "Site" }), "https://example.com/?a=b");
  fireEvent.change(screen.getByLabelText("Day"), { target: { value: "2026-11-21" } });
  fireEvent.change(screen.getByLabelText("Moment"), { target: { value: "2026-11-21T20:00" } });
  await user.type(screen.getByRole("textbox", { name: "Ratio" }), "-0.5");
  await user.type(screen.getByRole("textbox", { name: "Rows" }), "1e3");
  await user.click(screen.getByRole("checkbox", { name: "Time stamps" }));
  await user.click(screen.getByRole("checkbox", { name: "Time stamps" }));
  await user.click(screen.getByRole("radio", { name: "Markdown" }));
  await user.selectOptions(screen.getByRole("combobox", { name: "Zone" }), "Zone e");
  await user.click(screen.getByRole("checkbox", { name: "Finance" }));
  await user.click(screen.getByRole("checkbox", { name: "Urgent" }));
  await user.click(screen.getByRole("radio", { name: "Two" }));
  await user.type(screen.getByRole("textbox", { name: "Tags" }), "a, b{Enter}{Enter}c{Enter}");
  await user.type(screen.getByRole("textbox", { name: "Ports" }), "80{Enter} 9007199254740993");
  await user.type(screen.getByRole("textbox", { name: "Flags" }), "Yes{Enter}false");
  fireEvent.change(screen.getByRole("textbox", { name: "Extra" }), { target: { value: "[1]" } });
  await user.click(submit());
  expect(onAccept).toHaveBeenCalledExactlyOnceWith({
    text: "two\nlines",
    email: "ä@exämple.com",
    site: "https://example.com/?a=b",
    day: "2026-11-21",
    moment: "2026-11-21T20:00:00+05:30",
    ratio: -0.5,
    rows: 1000,
    stamps: false,
    sure: false,
    format: "md",
    zone: "e",
    labels: ["u", "f"],
    count: "2",
    tags: ["a, b", "c"],
    ports: [80, "9007199254740993"],
    flags: [true, false],
    extra: [1],
  });
});

test("leaves out untouched optional fields", async () => {
  const { user, onAccept } = show(everyKind.map((field) => ({ ...field, required: false })));
  await user.click(submit());
  expect(onAccept).toHaveBeenCalledExactlyOnceWith({});
});

test("defaults of every type are filled in and sent", async () => {
  const defaults: readonly Field[] = [
    { type: "string", name: "text", default: "hello" },
    { type: "string", name: "moment", format: "date-time", default: "2026-11-21T14:30:00.5Z" },
    { type: "number", name: "zero", default: 0 },
    { type: "boolean", name: "off", default: false },
    { type: "boolean", name: "on", default: true },
    { type: "choice", name: "one", options: [{ value: "a" }, { value: "" }], default: "" },
    { type: "choices", name: "some", options: [{ value: "a" }, { value: "b" }], default: ["b"] },
    { type: "json", name: "extra", schema: {}, default: { a: null } },
  ];
  const { user, onAccept } = show(defaults);
  expect(valueIn(screen.getByRole("textbox", { name: "text" }))).toBe("hello");
  screen.getByText("Sent as 2026-11-21T14:30:00.5Z");
  await user.click(submit());
  expect(onAccept).toHaveBeenCalledExactlyOnceWith({
    text: "hello",
    moment: "2026-11-21T14:30:00.5Z",
    zero: 0,
    off: false,
    on: true,
    one: "",
    some: ["b"],
    extra: { a: null },
  });
});

test("an optional choice can be taken back", async () => {
  const { user, onAccept } = show([
    { type: "choice", name: "few", title: "Few", options: [{ value: "a" }], default: "a" },
    {
      type: "choice",
      name: "many",
      title: "Many",
      options: ["a", "b", "c", "d", "e"].map((value) => ({ value })),
      default: "a",
    },
  ]);
  await user.click(screen.getByRole("radio", { name: "No answer" }));
  await user.selectOptions(screen.getByRole("combobox", { name: "Many" }), "No answer");
  await user.click(submit());
  expect(onAccept).toHaveBeenCalledExactlyOnceWith({});
});

describe("a problem", () => {
  const fields: readonly Field[] = [
    { type: "string", name: "name", title: "Name", required: true },
    { type: "number", name: "rows", title: "Rows", minimum: 1 },
    { type: "choice", name: "format", title: "Format", required: true, options: [{ value: "a" }] },
  ];
  const check = checkBy({
    rows: (value) => (value === 0 ? "minimum" : typeof value === "string" ? "type" : undefined),
    // Wrong from the first letter on, whenever in the typing it is checked.
    mail: (value) => (String(value).includes("@") ? undefined : "format"),
    code: () => "pattern",
    other: () => "pattern",
  });

  test("is told beside each field and announced in a summary that leads there", async () => {
    const { user, onAccept } = show(fields, {}, check);
    await user.type(screen.getByRole("textbox", { name: "Rows" }), "0");
    await user.click(submit());
    const name = screen.getByRole("textbox", { name: "Name" });
    await focused(name);
    expect(onAccept).not.toHaveBeenCalled();
    expect(isWrong(name)).toBe(true);
    expect(descriptionOf(name)).toBe("Required");
    expect(descriptionOf(screen.getByRole("textbox", { name: "Rows" }))).toBe(
      "At least 1 At least 1.",
    );
    expect(descriptionOf(screen.getByRole("radiogroup", { name: "Format" }))).toBe("Choose one");
    expect(screen.getByRole("alert").textContent).toBe("3 fields to correct");
    expect(screen.queryByRole("button", { name: "Rows" })).toBeNull();
    await user.click(screen.getByText("3 fields to correct"));
    await user.click(screen.getByRole("button", { name: "Rows" }));
    await focused(screen.getByRole("textbox", { name: "Rows" }));
    await user.click(screen.getByRole("button", { name: "Format" }));
    await focused(screen.getByRole("radio", { name: "a" }));
  });

  test("is listed as it is now, and a later one too", async () => {
    const email: Field = { type: "string", name: "mail", title: "Mail", format: "email" };
    const all = [...fields, { ...email, required: true }, stringField];
    const { user, container } = show(all, {}, check);
    const listed = () =>
      [...container.querySelectorAll(".problems li")].map((entry) => entry.textContent);
    await user.click(submit());
    await user.click(screen.getByText("3 fields to correct"));
    expect(listed()).toEqual(["Name: Required", "Format: Choose one", "Mail: Required"]);
    await user.type(screen.getByRole("textbox", { name: "Mail" }), "nobody");
    await waitFor(() => expect(listed().at(-1)).toMatch(/^Mail: Not an email address/));
    await user.type(screen.getByRole("textbox", { name: "Rows" }), "0");
    await user.tab();
    expect(listed()[1]).toBe("Rows: At least 1");
    await user.type(screen.getByRole("textbox", { name: "Mail" }), "@example.com");
    await user.click(screen.getByRole("radio", { name: "a" }));
    await waitFor(() => screen.getByText("2 fields to correct"));
    await user.type(screen.getByRole("textbox", { name: "Name" }), "x");
    await waitFor(() => expect(screen.queryByRole("alert")).toBeNull());
    expect(isWrong(screen.getByRole("textbox", { name: "Rows" }))).toBe(true);
  });

  test("that is alone is told at its field, which takes the focus", async () => {
    const { user, container } = show([{ ...stringField, required: true }]);
    await user.click(submit());
    const only = screen.getByRole("textbox", { name: "Reason" });
    await focused(only);
    expect(descriptionOf(only)).toBe("Required");
    expect(container.querySelector(".problems")).toBeNull();
    expect(container.querySelector(".ask-problems")?.textContent).toBe("");
  });

  test("of a pattern is told in the server's words", async () => {
    const code: Field = { type: "string", name: "code", title: "Code", pattern: "^[A-Z]$" };
    const capital = { ...code, description: "One capital letter." };
    const { user } = show([capital, { ...code, name: "other", title: "Other" }], {}, check);
    await user.type(screen.getByRole("textbox", { name: "Code" }), "x");
    await user.type(screen.getByRole("textbox", { name: "Other" }), "x{Tab}");
    const told = (name: string) => descriptionOf(screen.getByRole("textbox", { name }));
    expect(told("Code")).toBe("Does not match: One capital letter. One capital letter.");
    expect(told("Other")).toBe("Does not match the pattern ^[A-Z]$");
  });

  test("is shown when the person leaves a field, and disappears when it is fixed", async () => {
    const { user } = show(fields, {}, check);
    const rows = screen.getByRole("textbox", { name: "Rows" });
    await user.type(rows, "many");
    expect(isWrong(rows)).toBe(false);
    await user.tab();
    expect(descriptionOf(rows)).toBe("Not a number; write it like 12.5 At least 1.");
    expect(screen.queryByRole("alert")).toBeNull();
    await user.clear(rows);
    await waitFor(() => expect(isWrong(rows)).toBe(false));
  });

  test("waits for the release of the mouse, so that the button does not move from under it", async () => {
    const { user } = show(fields, {}, check);
    const rows = screen.getByRole("textbox", { name: "Rows" });
    await user.type(rows, "0");
    await user.pointer({ keys: "[MouseLeft>]", target: submit() });
    expect(document.activeElement).toBe(submit());
    expect(isWrong(rows)).toBe(false);
    await user.pointer("[/MouseLeft]");
    screen.getByText("3 fields to correct");
    expect(isWrong(rows)).toBe(true);
  });

  test("is not told of a required field that was only passed", async () => {
    const { user } = show(fields, {}, check);
    await user.click(screen.getByRole("textbox", { name: "Name" }));
    await user.tab();
    expect(isWrong(screen.getByRole("textbox", { name: "Name" }))).toBe(false);
  });

  test("may be a date that is half typed", async () => {
    const { user, onAccept } = show([
      { type: "string", name: "day", title: "Day", format: "date" },
    ]);
    const day = screen.getByLabelText<HTMLInputElement>("Day");
    Object.defineProperty(day, "validity", { value: { badInput: true } });
    await user.click(submit());
    expect(onAccept).not.toHaveBeenCalled();
    expect(descriptionOf(day)).toBe("Not complete");
  });

  test("that the sidecar found is shown in the same places, and the typed text stays", async () => {
    const { user, rerender, onAccept } = show(fields);
    await user.type(screen.getByRole("textbox", { name: "Name" }), "x");
    await user.click(screen.getByRole("radio", { name: "a" }));
    await user.click(submit());
    expect(onAccept).toHaveBeenCalledTimes(1);
    const given = props(fields);
    rerender(<McpElicitationForm {...given} busy />);
    const problems = [{ name: "name", message: "Already taken." }, { message: "Odd as a whole." }];
    rerender(<McpElicitationForm {...given} problems={problems} />);
    const name = screen.getByRole("textbox", { name: "Name" });
    expect(valueIn(name)).toBe("x");
    expect(descriptionOf(name)).toBe("Already taken.");
    await focused(name);
    expect(screen.getByRole("alert").textContent).toContain("Odd as a whole.");
    await user.type(name, "y");
    await waitFor(() => expect(isWrong(name)).toBe(false));
  });
});

describe("the ways out", () => {
  test("a yes is not a no, and neither is putting it away", async () => {
    const { user, onAccept, onDecline, onCancel } = show([
      { type: "string", name: "b", title: "B" },
    ]);
    await user.click(screen.getByRole("button", { name: "Decline" }));
    expect([onAccept, onDecline, onCancel].map((way) => way.mock.calls.length)).toEqual([0, 1, 0]);
    dismiss();
    expect([onAccept, onDecline, onCancel].map((way) => way.mock.calls.length)).toEqual([0, 1, 1]);
    await user.click(submit());
    expect([onAccept, onDecline, onCancel].map((way) => way.mock.calls.length)).toEqual([1, 1, 1]);
  });

  test("Escape answers nothing", async () => {
    const { user, onAccept, onDecline, onCancel } = show([
      { type: "string", name: "b", title: "B" },
    ]);
    await user.click(screen.getByRole("textbox", { name: "B" }));
    await user.keyboard("{Escape}");
    expect([onAccept, onDecline, onCancel].map((way) => way.mock.calls.length)).toEqual([0, 0, 0]);
  });

  test("Enter in a text submits, unless it ends a composition", async () => {
    const { user, onAccept } = show([{ type: "string", name: "a", title: "A" }]);
    const text = screen.getByRole("textbox", { name: "A" });
    fireEvent.keyDown(text, { key: "Enter", isComposing: true });
    expect(onAccept).not.toHaveBeenCalled();
    await user.type(text, "x{Enter}");
    expect(onAccept).toHaveBeenCalledExactlyOnceWith({ a: "x" });
  });

  test("all are shut while an answer is under way", async () => {
    const field: Field = { type: "string", name: "a", title: "A", default: "x" };
    const { user, onAccept, onDecline, onCancel } = show([field], { busy: true });
    expect(screen.getByRole("textbox", { name: "A" }).matches(":disabled")).toBe(true);
    await user.click(submit());
    await user.click(screen.getByRole("button", { name: "Decline" }));
    dismiss();
    fireEvent.keyDown(screen.getByRole("region"), { key: "Escape" });
    expect([onAccept, onDecline, onCancel].map((way) => way.mock.calls.length)).toEqual([0, 0, 0]);
  });
});

describe("a form that asks for yes or no", () => {
  const names = () => screen.getAllByRole("button").map((button) => button.textContent);
  const sure: Field = { type: "boolean", name: "sure", title: "Sure", required: true };

  test("without fields: yes accepts it, and no declines it", async () => {
    const { user, onAccept, onDecline, container } = show([]);
    expect(names()).toEqual(["YesCtrl+⏎", "No", ""]);
    await user.click(screen.getByRole("button", { name: "Yes" }));
    expect(onAccept).toHaveBeenCalledExactlyOnceWith({});
    await user.click(screen.getByRole("button", { name: "No" }));
    expect(onDecline).toHaveBeenCalledOnce();
    expect(await axeFindings(container)).toEqual([]);
  });

  test("by a boolean: both answer it, and to decline is another thing", async () => {
    const { user, onAccept, onDecline, onCancel, container } = show([
      { ...sure, description: "It cannot be undone." },
    ]);
    expect(names()).toEqual(["YesCtrl+⏎", "No", "Decline", ""]);
    expect(screen.queryByRole("checkbox")).toBeNull();
    const no = screen.getByRole("button", { name: "No" });
    expect(descriptionOf(no)).toBe("SureIt cannot be undone.");
    await user.click(no);
    expect(onAccept).toHaveBeenLastCalledWith({ sure: false });
    await user.click(screen.getByRole("button", { name: "Yes" }));
    expect(onAccept).toHaveBeenLastCalledWith({ sure: true });
    expect(onDecline).not.toHaveBeenCalled();
    await user.click(screen.getByRole("button", { name: "Decline" }));
    dismiss();
    expect([onDecline, onCancel].map((way) => way.mock.calls.length)).toEqual([1, 1]);
    expect(await axeFindings(container)).toEqual([]);
  });

  test("by a boolean that the server fills in with no: the keys say no", () => {
    const { container } = show([{ ...sure, default: false }]);
    expect(container.querySelector(".primary")?.textContent).toBe("NoCtrl+⏎");
  });

  test.each<readonly [string, readonly Field[]]>([
    ["may be left out", [{ ...sure, required: false }]],
    ["is not alone", [sure, { type: "string", name: "b", title: "B" }]],
  ])("is a form as any other if its boolean %s", (_, fields) => {
    show(fields);
    screen.getByRole("checkbox", { name: "Sure" });
    submit();
  });

  test("shows why its answer was refused", () => {
    show([sure], { problems: [{ name: "sure", message: "Must be yes." }] });
    expect(screen.getByRole("alert").textContent).toContain("Must be yes.");
  });
});

test("drafts have the typed text, but nothing that looks like a secret", async () => {
  const { user, onDraft, onAccept } = show([
    { type: "string", name: "user", title: "User" },
    { type: "string", name: "apiKey", title: "Key", secret: true },
  ]);
  const key = screen.getByLabelText("Key");
  expect(key.getAttribute("type")).toBe("password");
  expect(descriptionOf(key)).toMatch(/MCP forbids servers to ask for a secret/);
  await user.type(screen.getByRole("textbox", { name: "User" }), "ada");
  await user.type(key, "s3cret");
  for (const [draft] of onDraft.mock.calls) expect(JSON.stringify(draft)).not.toContain("s3");
  expect(onDraft).toHaveBeenLastCalledWith({ user: "ada" });
  await user.click(submit());
  expect(onAccept).toHaveBeenCalledExactlyOnceWith({ user: "ada", apiKey: "s3cret" });
});

test("an answer that the person marks as secret is hidden, and leaves the draft", async () => {
  const { user, onDraft, onAccept } = show([
    { type: "string", name: "word", title: "Losung" },
    { type: "boolean", name: "sure", title: "Sure" },
  ]);
  await user.type(screen.getByRole("textbox", { name: "Losung" }), "swordfish");
  expect(onDraft).toHaveBeenLastCalledWith({ word: "swordfish" });
  await user.click(screen.getByText("Mark answers as secret"));
  expect(screen.queryByRole("checkbox", { name: "Sure is a secret" })).toBeNull();
  await user.click(screen.getByRole("checkbox", { name: "Losung is a secret" }));
  expect(onDraft).toHaveBeenLastCalledWith({});
  const word = screen.getByLabelText("Losung");
  expect(word.getAttribute("type")).toBe("password");
  expect((word as HTMLInputElement).value).toBe("swordfish");
  await user.click(submit());
  expect(onAccept).toHaveBeenCalledExactlyOnceWith({ word: "swordfish" }, ["word"]);
});

describe("a field that asks for a secret", () => {
  const fields: readonly Field[] = [
    { type: "string", name: "user", title: "User" },
    { type: "string", name: "apiKey", title: "Key", secret: true },
    { type: "number", name: "pin", title: "PIN", secret: true },
  ];

  test("is warned of, and declined with one press", async () => {
    const { user, onDecline, container } = show(fields);
    const warning = screen.getByRole("note", { name: "Warning" });
    expect(warning.textContent).toMatch(/^Key, PIN look like secrets\. MCP forbids servers to ask/);
    expect(await axeFindings(container)).toEqual([]);
    await user.click(screen.getByRole("button", { name: "Decline" }));
    expect(onDecline).toHaveBeenCalledTimes(1);
  });

  test("is masked until the person wants to see it", async () => {
    const { user } = show(fields);
    const key = screen.getByLabelText("Key");
    const eye = screen.getByRole("button", { name: "Show Key", pressed: false });
    expect(key.getAttribute("type")).toBe("password");
    await user.click(eye);
    expect(key.getAttribute("type")).toBe("text");
    await user.click(screen.getByRole("button", { name: "Show Key", pressed: true }));
    expect(key.getAttribute("type")).toBe("password");
  });

  test("has no warning if there is none", () => {
    show([{ type: "string", name: "user", title: "User" }]);
    expect(screen.queryByRole("note")).toBeNull();
  });
});

test("the whole form can be filled in, corrected and sent with the keyboard", async () => {
  const email = (value: unknown) => (value === "notanemail" ? "format" : undefined);
  const { user, onAccept } = show(everyKind, {}, checkBy({ email }));
  const names: string[] = [];
  const type = async (keys: string) => {
    await user.tab();
    names.push(nameOf(document.activeElement));
    if (keys !== "") await user.keyboard(keys);
  };
  await type(""); // the question, which scrolls
  await type("words");
  await type("notanemail");
  await type("urn:x");
  await type(""); // Day and Moment have keys of the browser's own
  await type("");
  await type("0.5");
  await type("7");
  await type(" ");
  await type("");
  await type(""); // no radio is chosen yet: the first has the focus
  await user.keyboard(" ");
  await type("");
  await type(" ");
  while (document.activeElement !== submit()) await type("");
  await user.keyboard("{Enter}");

  // The focus is on the first wrong field, which has the error.
  const address = screen.getByRole("textbox", { name: "Email" });
  await focused(address);
  expect(onAccept).not.toHaveBeenCalled();
  expect(descriptionOf(address)).toBe("Not an email address, such as name@example.com");
  await user.keyboard("{Control>}a{/Control}");
  await user.clear(address);
  await user.keyboard("a@b{Enter}");
  expect(onAccept).toHaveBeenCalledExactlyOnceWith({
    text: "words",
    email: "a@b",
    site: "urn:x",
    ratio: 0.5,
    rows: 7,
    stamps: true,
    sure: false,
    format: "json",
    labels: ["u"],
  });
  expect(names.slice(0, 13)).toEqual([
    "",
    "Text",
    "Email",
    "Site",
    "Day",
    "Moment",
    "Ratio",
    "Rows",
    "Time stamps",
    "Sure",
    "json",
    "Zone",
    "Urgent",
  ]);
});

function nameOf(element: Element | null): string {
  if (!(element instanceof HTMLElement)) return "";
  const label = "labels" in element ? (element as HTMLInputElement).labels?.[0] : undefined;
  if (element.classList.contains("ask-body")) return "";
  const name = element.getAttribute("aria-label") ?? (label ?? element).textContent;
  return name.replace(" *", "").trim();
}

test("a draft is there again, also where it undid a default", async () => {
  const { user, onAccept } = show(
    [
      { type: "string", name: "a", title: "A", default: "default" },
      { type: "boolean", name: "b", title: "B", default: true },
      { type: "choice", name: "c", title: "C", options: [{ value: "x" }], default: "x" },
    ],
    { draft: { a: "typed", b: false } },
  );
  await user.click(submit());
  expect(onAccept).toHaveBeenCalledExactlyOnceWith({ a: "typed", b: false });
});

test("axe finds nothing, neither at first nor with everything wrong", async () => {
  const { user, container } = show(everyKind.map((field) => ({ ...field, required: true })));
  expect(await axeFindings(container)).toEqual([]);
  await user.click(submit());
  screen.getByRole("alert");
  expect(await axeFindings(container)).toEqual([]);
});
