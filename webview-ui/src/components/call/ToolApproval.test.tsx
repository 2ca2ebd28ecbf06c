import type { AccessMcpResource, Field, Tool, ToolAnnotations, UseMcpTool } from "@assent/protocol";
import { act, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { axeFindings } from "../../testing/axe.ts";
import { checkBy } from "../../testing/check.ts";
import { descriptionOf, isWrong } from "../../testing/dom.ts";
import { chooseWay, dismiss } from "../../testing/menu.ts";
import { armingMs } from "../ask/useClickGuard.ts";
import { CheckContext } from "../form/useCheck.ts";
import { ToolApproval, type ToolApprovalProps } from "./ToolApproval.tsx";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
afterEach(() => void vi.useRealTimers());

const wants: UseMcpTool = {
  type: "use_mcp_tool",
  serverName: "database",
  toolUse: { messageId: 1, toolUseId: "1" },
  tool: {
    name: "cleanup",
    title: "Clean up",
    description: "Removes what is **old**.",
    annotations: { destructiveHint: true },
  },
  arguments: { older: "2024" },
  destructive: true,
};

function show(
  question: UseMcpTool | AccessMcpResource = wants,
  part: Partial<ToolApprovalProps> = {},
) {
  const props = {
    onApprove: vi.fn<ToolApprovalProps["onApprove"]>(),
    onDecline: vi.fn<ToolApprovalProps["onDecline"]>(),
    onCancel: vi.fn<ToolApprovalProps["onCancel"]>(),
    onDraft: vi.fn<ToolApprovalProps["onDraft"]>(),
  };
  const drawn = render(
    <CheckContext value={check}>
      <ToolApproval
        askId="a1"
        question={question}
        busy={false}
        refusal={undefined}
        draft={undefined}
        {...props}
        {...part}
      />
    </CheckContext>,
  );
  act(() => void vi.advanceTimersByTime(armingMs));
  return { ...drawn, ...props };
}

const check = checkBy();

/** The sidecar has checked the form. */
const checked = () => act(async () => void (await vi.advanceTimersByTimeAsync(0)));

const press = (name: string) => fireEvent.click(screen.getByRole("button", { name }));

describe("a tool that a model wants to use", () => {
  test("is shown as its server's words, with its arguments", async () => {
    const { container } = show();
    expect(screen.queryByRole("blockquote")).toBeNull();
    screen.getByRole("region", { name: "Allow Clean up? database" });
    screen.getByText("Clean up");
    screen.getByText("older");
    screen.getByText('"2024"');
    screen.getByText("The server says that it may delete or overwrite things");
    screen.getByText(/^This tool may delete/);
    const text = container.querySelector(".ask-body")?.textContent ?? "";
    const places = ["2024", "This tool may delete", "Removes what is"].map((it) =>
      text.indexOf(it),
    );
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    vi.useRealTimers();
    fireEvent.click(screen.getByText("database says:"));
    const quoted = (await screen.findByText("old")).closest("blockquote");
    expect(quoted?.getAttribute("aria-label")).toBe("What database says");
    expect(await axeFindings(container)).toEqual([]);
  });

  test("that has changed since it was allowed says so, with the difference", async () => {
    const { container } = show({
      ...wants,
      changed: {
        by: "VS Code",
        at: 1_000,
        tool: true,
        lines: [
          { kind: "same", text: "Description:" },
          { kind: "removed", text: "Removes what is old." },
          { kind: "added", text: "Removes \u202Eeverything." },
          { kind: "gap", text: "" },
        ],
      },
    });
    screen.getByText(/^This tool or its server has changed since you allowed it in VS Code/);
    expect(container.querySelector("pre del")?.textContent).toBe("- Removes what is old.\n");
    expect(container.querySelector("pre ins")?.textContent).toBe("+ Removes [U+202E]everything.\n");
    expect(screen.queryByText(/another configuration/)).toBeNull();
    vi.useRealTimers();
    expect(await axeFindings(container)).toEqual([]);
  });

  test("that a host calls is allowed or declined as it is", async () => {
    const { onApprove, onDecline } = show({
      ...wants,
      hostName: "Claude Code",
      changed: { by: "Claude Code", at: 1_000, tool: true, lines: [] },
    });
    screen.getByText(/^Claude Code calls it\. If you allow it/);
    for (const name of ["Edit", "More Ways to Allow"]) {
      expect(screen.queryByRole("button", { name })).toBeNull();
    }
    press("Allow");
    expect(onApprove.mock.calls).toEqual([[undefined, undefined]]);
    press("Decline");
    expect(onDecline.mock.calls).toEqual([[undefined]]);
    fireEvent.click(screen.getByRole("button", { name: "More Ways to Decline" }));
    expect(screen.queryByRole("menuitem", { name: /Never allow/ })).toBeNull();
  });

  test("says that its server has changed", () => {
    show({ ...wants, changed: { by: "VS Code", at: 1_000, server: true, tool: true } });
    screen.getByText(/^The server's configuration has changed/);
    screen.getByText(/The earlier description was not saved/);
  });

  test.each<[string, ToolAnnotations | undefined, string]>([
    ["nothing", undefined, "The server does not say whether it deletes things: it may"],
    ["that it reads", { readOnlyHint: true }, "The server says that it only reads"],
    [
      "that it adds",
      { destructiveHint: false },
      "The server says that it adds and deletes nothing",
    ],
  ])("shows its server's claims: %s", (_, annotations, words) => {
    const { annotations: _before, ...tool } = wants.tool;
    show({ ...wants, tool: { ...tool, ...(annotations && { annotations }) } });
    screen.getByText(words);
  });

  test.each([
    ["Allow", [undefined, undefined]],
    ["Allow in this task", ["task", undefined]],
    ["Always allow", ["always", undefined]],
  ] as const)("is approved by %s", (name, given) => {
    const { onApprove } = show();
    if (name === "Allow") press(name);
    else chooseWay("More Ways to Allow", name);
    expect(onApprove).toHaveBeenCalledExactlyOnceWith(...given);
  });

  test.each([
    ["Decline", undefined],
    ["Never allow", "never"],
  ] as const)("is declined by %s", (name, remember) => {
    const { onDecline } = show();
    if (name === "Decline") press(name);
    else chooseWay("More Ways to Decline", name);
    expect(onDecline).toHaveBeenCalledExactlyOnceWith(remember);
  });

  test("is dismissed without an answer", () => {
    const { onDecline, onCancel } = show();
    dismiss();
    expect(onCancel).toHaveBeenCalledOnce();
    expect(onDecline).not.toHaveBeenCalled();
  });

  test("has its arguments by the titles of their fields, or as JSON if they are nested", () => {
    const titled: readonly Field[] = [{ type: "string", name: "older", title: "Older than" }];
    const { unmount } = show({ ...wants, tool: { ...wants.tool, fields: titled } });
    expect(screen.getByText("Older than").nextElementSibling?.textContent).toBe('"2024"');
    unmount();
    show({ ...wants, arguments: { rows: [1, 2] } });
    screen.getByText(/"rows": \[/);
  });

  test("says in words that it has no arguments", () => {
    const { container } = show({ ...wants, arguments: {} });
    screen.getByText("No arguments");
    expect(container.textContent).not.toContain("{}");
  });

  test("is not approved by who pressed something else", () => {
    const { onApprove, onDecline, onCancel, unmount } = show();
    unmount();
    const fresh = render(
      <ToolApproval
        {...{ askId: "a2", question: wants, busy: false, refusal: undefined, draft: undefined }}
        {...{ onApprove, onDecline, onCancel, onDraft: () => {} }}
      />,
    );
    for (const button of fresh.getAllByRole("button")) {
      if (button.textContent !== "Edit") fireEvent.click(button);
    }
    for (const way of fresh.getAllByRole("menuitem")) fireEvent.click(way);
    for (const act of [onApprove, onDecline, onCancel]) expect(act).not.toHaveBeenCalled();
  });

  test("is called with other arguments, once they are an object", () => {
    const { onApprove, onDraft } = show();
    press("Edit");
    const field = screen.getByRole("textbox", { name: "Arguments" });
    fireEvent.change(field, { target: { value: "[1" } });
    press("Allow");
    expect(onApprove).not.toHaveBeenCalled();
    expect(isWrong(field)).toBe(true);
    expect(descriptionOf(field)).toMatch(/^Not JSON: /);
    fireEvent.change(field, { target: { value: "[1]" } });
    fireEvent.blur(field);
    expect(descriptionOf(field)).toMatch(/^Arguments are a JSON object/);
    fireEvent.change(field, { target: { value: '{"older":"2020"}' } });
    expect(onDraft).toHaveBeenLastCalledWith({ arguments: '{"older":"2020"}' });
    chooseWay("More Ways to Allow", "Always allow");
    expect(onApprove).toHaveBeenCalledExactlyOnceWith("always", '{"older":"2020"}');
  });

  test("restores the typed text, until that is discarded", () => {
    const { onApprove } = show(wants, { draft: { arguments: "{}" } });
    screen.getByRole("textbox", { name: "Arguments" });
    press("Discard Edits");
    press("Allow");
    expect(onApprove).toHaveBeenCalledExactlyOnceWith(undefined, undefined);
  });
});

describe("the arguments of a tool with a form", () => {
  const fields: readonly Field[] = [
    { type: "string", name: "older", title: "Older than", required: true },
    { type: "number", name: "row", title: "Row", integer: true, minimum: 1 },
    { type: "boolean", name: "dryRun", title: "Dry run" },
  ];
  const row = "9007199254740993";
  const flat: UseMcpTool = {
    ...wants,
    tool: { ...wants.tool, fields },
    // The number as JSON.parse reads it in the page, and as the model wrote it.
    arguments: { older: "2024", row: Number(row) },
    argumentsText: `{"older":"2024","row":${row}}`,
  };

  test("are edited in its fields, checked, and keep the digits of untouched numbers", async () => {
    const { onApprove, onDraft, container } = show(flat);
    screen.getByText(/"row": 9007199254740993/);
    press("Edit");
    const older = screen.getByRole("textbox", { name: /^Older than/ });
    expect(screen.getByRole("textbox", { name: "Row" })).toHaveProperty("value", row);
    fireEvent.change(older, { target: { value: "" } });
    chooseWay("More Ways to Allow", "Always allow");
    await checked();
    expect(onApprove).not.toHaveBeenCalled();
    expect(isWrong(older)).toBe(true);
    fireEvent.change(older, { target: { value: "2020" } });
    expect(onDraft).toHaveBeenLastCalledWith({
      fields: JSON.stringify({ older: "2020", row }),
    });
    fireEvent.keyDown(older, { key: "Enter" }); // that is no approval
    await checked();
    expect(onApprove).not.toHaveBeenCalled();
    chooseWay("More Ways to Allow", "Always allow");
    await checked();
    expect(onApprove).toHaveBeenCalledExactlyOnceWith(
      "always",
      `{\n  "older": "2020",\n  "row": ${row}\n}`,
    );
    vi.useRealTimers();
    expect(await axeFindings(container)).toEqual([]);
  });

  test("go to and fro between the fields and JSON, and back to what the model wrote", () => {
    const { onApprove } = show(flat);
    press("Edit");
    fireEvent.change(screen.getByRole("textbox", { name: "Row" }), {
      target: { value: `${row}1` },
    });
    fireEvent.click(screen.getByRole("checkbox", { name: "Dry run" }));
    press("Edit as JSON");
    const json = screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Arguments" });
    expect(json.value).toBe(`{\n  "older": "2024",\n  "row": ${row}1,\n  "dryRun": true\n}`);
    fireEvent.change(json, { target: { value: `{"older":"1","more":1}` } });
    expect(screen.queryByRole("button", { name: "Edit in Fields" })).toBeNull();
    fireEvent.change(json, { target: { value: `{"older":"1","row":${row}2}` } });
    press("Edit in Fields");
    expect(screen.getByRole("textbox", { name: "Row" })).toHaveProperty("value", `${row}2`);
    press("Discard Edits");
    expect(document.activeElement).toBe(screen.getByRole("button", { name: "Edit" }));
    press("Allow");
    expect(onApprove).toHaveBeenCalledExactlyOnceWith(undefined, undefined);
  });

  test("have in the fields all that is sent, for any arguments of the model", async () => {
    const { onApprove } = show({ ...flat, argumentsText: '{"older":"2024","more":1}' });
    press("Edit");
    const json = screen.getByRole("textbox", { name: "Arguments" });
    fireEvent.change(json, { target: { value: '{"older":"2024"}' } });
    press("Edit in Fields");
    expect(document.activeElement).toBe(screen.getByRole("textbox", { name: /^Older than/ }));
    press("Allow");
    await checked();
    expect(onApprove).toHaveBeenCalledExactlyOnceWith(undefined, '{\n  "older": "2024"\n}');
  });

  test("that were only looked at are not edited", async () => {
    const { onApprove } = show(flat);
    press("Edit");
    press("Allow");
    await checked();
    expect(onApprove).toHaveBeenCalledExactlyOnceWith(undefined, undefined);
  });

  test("restore the typed text, unless the form has changed", () => {
    const draft = { fields: JSON.stringify({ older: "1999" }) };
    const { unmount } = show(flat, { draft });
    expect(screen.getByRole("textbox", { name: /^Older than/ })).toHaveProperty("value", "1999");
    unmount();
    show(wants, { draft });
    screen.getByText('"2024"');
  });

  test.each<[string, Partial<Tool>, unknown]>([
    ["nothing but nested ones", { fields: [{ type: "json", name: "older", schema: {} }] }, {}],
    ["one that no field has", { fields }, { older: "1", more: 1 }],
    ["one of another type", { fields }, { older: 5 }],
    ["a day that is none", { fields: [{ ...fields[0], format: "date" } as Field] }, { older: "x" }],
    ["a secret", { fields: [{ ...fields[0], secret: true } as Field] }, { older: "x" }],
  ])("are edited as JSON if there is %s", (_, part, args) => {
    show({ ...wants, tool: { ...wants.tool, ...part }, arguments: args });
    press("Edit");
    screen.getByRole("textbox", { name: "Arguments" });
  });
});

test("a resource that a model wants to read is shown whole, and approved", () => {
  const { onApprove } = show({
    type: "access_mcp_resource",
    serverName: "database",
    toolUse: { messageId: 1, toolUseId: "1" },
    uri: "db://rows/7",
  });
  screen.getByRole("region", { name: "Allow reading db://rows/7? database" });
  expect(screen.getAllByText("db://rows/7")).toHaveLength(2);
  expect(screen.queryByText("Arguments")).toBeNull();
  chooseWay("More Ways to Allow", "Always allow");
  expect(onApprove).toHaveBeenCalledExactlyOnceWith("always", undefined);
});
