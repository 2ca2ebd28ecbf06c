import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, test, vi } from "vitest";
import { axeFindings } from "../../testing/axe.ts";
import { descriptionOf, isWrong } from "../../testing/dom.ts";
import { dismiss } from "../../testing/menu.ts";
import { demoModel, otherModel, samplingReview, toolRequest } from "../../testing/samples.ts";
import { McpSamplingReview, type McpSamplingReviewProps } from "./McpSamplingReview.tsx";

// The half second before an ask can be answered has a test of its own.
vi.mock("../ask/useClickGuard.ts", () => ({ useClickGuard: () => true }));

function show(part: Partial<McpSamplingReviewProps> = {}) {
  const ways = {
    onDraft: vi.fn<McpSamplingReviewProps["onDraft"]>(),
    onReturn: vi.fn<McpSamplingReviewProps["onReturn"]>(),
    onRegenerate: vi.fn<McpSamplingReviewProps["onRegenerate"]>(),
    onDecline: vi.fn<McpSamplingReviewProps["onDecline"]>(),
    onCancel: vi.fn<McpSamplingReviewProps["onCancel"]>(),
  };
  const drawn = render(
    <McpSamplingReview
      askId="r1"
      question={samplingReview()}
      models={[demoModel, otherModel]}
      draft={undefined}
      busy={false}
      refusal={undefined}
      keep="t1:1"
      {...ways}
      {...part}
    />,
  );
  return { ...ways, ...drawn, user: userEvent.setup() };
}

const button = (name: string) => screen.getByRole("button", { name });

test("the answer is shown with who wrote it, and each way out is one of its own", async () => {
  const { user, container, onReturn, onDecline, onRegenerate, onCancel } = show();
  screen.getByRole("region", { name: "Review the answer for database" });
  expect(screen.getByText("The risk is **low**.").tagName).toBe("PRE");
  expect(screen.queryByText("low")).toBeNull();
  await user.click(button("Show as Markdown"));
  expect(screen.getByText("low").tagName).toBe("STRONG");
  await user.click(button("Show Exact Text"));
  expect(screen.getAllByText(demoModel.name).length).toBeGreaterThan(0);
  expect(await axeFindings(container)).toEqual([]);
  const counts = () =>
    [onReturn, onDecline, onRegenerate, onCancel].map((way) => way.mock.calls.length);
  await user.click(button("Return to Server"));
  expect(onReturn).toHaveBeenCalledWith(undefined);
  await user.click(button("Decline"));
  await user.click(button("Ask Again"));
  expect(onRegenerate).toHaveBeenCalledWith(undefined);
  dismiss();
  await user.keyboard("{Escape}");
  expect(counts()).toEqual([1, 1, 1, 1]);
});

test("an edit is made, seen and returned without a mouse", async () => {
  const { user, container, onReturn, onCancel, onDraft } = show();
  button("Edit").focus();
  await user.keyboard(" ");
  const box = screen.getByRole("textbox", { name: "Answer to the server" });
  expect(document.activeElement).toBe(box);
  await user.keyboard("{Control>}a{/Control}The risk is **high**.");
  expect(await axeFindings(container)).toEqual([]);
  await user.keyboard("{Escape}");
  expect(onCancel).not.toHaveBeenCalled();
  expect(document.activeElement).toBe(button("Edit"));
  expect(container.querySelector("del")?.textContent).toBe("low");
  expect(container.querySelector("ins")?.textContent).toBe("high");
  expect(onDraft).toHaveBeenLastCalledWith({
    editing: false,
    "text 0": "The risk is **high**.",
  });
  for (let tabs = 0; tabs < 3; tabs++) await user.tab({ shift: true });
  await user.keyboard("{Enter}");
  expect(onReturn).toHaveBeenCalledExactlyOnceWith([
    { type: "text", text: "The risk is **high**." },
  ]);
});

test("an edit of an earlier life of the view is still there, and can be undone", async () => {
  const { user, onReturn } = show({ draft: { "text 0": "Nothing." } });
  screen.getAllByText("Nothing.");
  await user.click(button("Undo all changes"));
  await user.click(button("Return to Server"));
  expect(onReturn).toHaveBeenCalledExactlyOnceWith(undefined);
});

test("an empty text cannot be returned", async () => {
  const { user, onReturn } = show({ draft: { editing: true } });
  await user.clear(screen.getByRole("textbox", { name: "Answer to the server" }));
  screen.getByText("The answer is empty. To return nothing, decline it.");
  await user.click(button("Return to Server"));
  expect(onReturn).not.toHaveBeenCalled();
});

test("another model can be asked", async () => {
  const { user, onRegenerate } = show();
  await user.selectOptions(
    screen.getByRole("combobox", { name: "Another answer by" }),
    otherModel.name,
  );
  await user.click(button("Ask Again"));
  expect(onRegenerate).toHaveBeenCalledExactlyOnceWith(otherModel.id);
});

test("says why another answer is not possible", () => {
  show({ question: samplingReview({ problem: "gpt gave no other answer: no quota." }) });
  screen.getByText("gpt gave no other answer: no quota.");
});

test("all ways are shut while an answer is under way", async () => {
  const { user, onReturn, onDecline, onRegenerate, onCancel } = show({ busy: true });
  for (const name of ["Return to Server", "Decline", "Ask Again"]) {
    await user.click(button(name));
  }
  dismiss();
  for (const way of [onReturn, onDecline, onRegenerate, onCancel]) {
    expect(way).not.toHaveBeenCalled();
  }
});

describe("an answer with calls of tools", () => {
  const question = samplingReview({
    samplingResponse: {
      type: "response",
      role: "assistant",
      content: [
        { type: "text", text: "I look." },
        { type: "tool_use", id: "c1", name: "forecast", input: { city: "Paris" } },
        { type: "tool_use", id: "c2", name: "forecast", input: { city: "Rome" } },
      ],
      model: "demo",
      stopReason: "toolUse",
    },
  });
  const tools = toolRequest.tools ?? [];
  const [said, first, second] = question.samplingResponse.content ?? [];
  const letCall = (n: number) =>
    screen.getByRole<HTMLInputElement>("checkbox", {
      name: `Keep this call: forecast, call ${n}`,
    });

  test("shows each with its purpose, and sends it unchanged", async () => {
    const { user, container, onReturn } = show({ question, tools });
    screen.getByText("asks for tool calls");
    const calls = [...container.querySelectorAll(".tool-block")].map((block) => block.textContent);
    expect(calls).toEqual([
      'Calls the tool forecast with{\n  "city": "Paris"\n}',
      'Calls the tool forecast with{\n  "city": "Rome"\n}',
    ]);
    expect(screen.getAllByText("The weather of *one* city.")).toHaveLength(2);
    expect(letCall(1).checked).toBe(true);
    expect(await axeFindings(container)).toEqual([]);
    await user.click(button("Return to Server"));
    expect(onReturn).toHaveBeenCalledExactlyOnceWith(undefined);
  });

  test("goes without those that are left out", async () => {
    const { user, container, onReturn } = show({ question, tools });
    await user.click(letCall(2));
    expect(container.querySelector("del")?.textContent).toContain("Rome");
    await user.click(button("Return to Server"));
    expect(onReturn).toHaveBeenCalledExactlyOnceWith([said, first]);
    await user.click(button("Undo all changes"));
    expect(letCall(2).checked).toBe(true);
  });

  test("goes with other arguments, and without a text that was emptied", async () => {
    const { user, container, onReturn } = show({ question, tools, draft: { editing: true } });
    await user.clear(screen.getByRole("textbox", { name: "Answer to the server" }));
    const box = screen.getByRole("textbox", { name: "Arguments of forecast, call 1" });
    await user.clear(box);
    await user.type(box, '{{"city": "Oslo"}');
    expect(await axeFindings(container)).toEqual([]);
    expect([...container.querySelectorAll("ins")].map((ins) => ins.textContent)).toEqual(["Oslo"]);
    await user.click(button("Return to Server"));
    expect(onReturn).toHaveBeenCalledExactlyOnceWith([
      { type: "tool_use", id: "c1", name: "forecast", input: { city: "Oslo" } },
      second,
    ]);
  });

  test.each([
    ["{city", /^Not JSON: /],
    ["[1]", /^The arguments of a tool must be a JSON object/],
  ])("is not returned with %s for arguments, and says why at the field", async (text, why) => {
    const { user, onReturn } = show({ question, draft: { editing: true, "input 1": text } });
    const box = screen.getByRole("textbox", { name: "Arguments of forecast, call 1" });
    expect(isWrong(box)).toBe(true);
    expect(descriptionOf(box)).toMatch(why);
    await user.click(button("Return to Server"));
    expect(onReturn).not.toHaveBeenCalled();
    // A block that is left out cannot be wrong.
    await user.click(letCall(1));
    await user.click(button("Return to Server"));
    expect(onReturn).toHaveBeenCalledExactlyOnceWith([said, second]);
  });

  test("other spaces are no change", async () => {
    const { user, onReturn } = show({ question, draft: { "input 1": '{"city":"Paris"}' } });
    expect(screen.queryByText("What you changed")).toBeNull();
    await user.click(button("Return to Server"));
    expect(onReturn).toHaveBeenCalledExactlyOnceWith(undefined);
  });

  test("of which nothing is left is declined instead", async () => {
    const { user, onReturn } = show({ question, draft: { "text 0": " ", "without 1": true } });
    await user.click(letCall(2));
    screen.getByText("Nothing is left of the answer. To return nothing, decline it.");
    await user.click(button("Return to Server"));
    expect(onReturn).not.toHaveBeenCalled();
  });
});
