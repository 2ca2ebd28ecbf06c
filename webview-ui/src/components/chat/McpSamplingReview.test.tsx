import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import { axeFindings } from "../../testing/axe.ts";
import { demoModel, otherModel, samplingReview } from "../../testing/samples.ts";
import { McpSamplingReview, type McpSamplingReviewProps } from "./McpSamplingReview.tsx";

// The half second before an ask can be answered has a test of its own.
vi.mock("./useArmed.ts", () => ({ useArmed: () => true }));

function show(part: Partial<McpSamplingReviewProps> = {}) {
  const ways = {
    onDraft: vi.fn<McpSamplingReviewProps["onDraft"]>(),
    onReturn: vi.fn<McpSamplingReviewProps["onReturn"]>(),
    onRegenerate: vi.fn<McpSamplingReviewProps["onRegenerate"]>(),
    onWithhold: vi.fn<McpSamplingReviewProps["onWithhold"]>(),
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
  const { user, container, onReturn, onWithhold, onRegenerate, onCancel } = show();
  screen.getByRole("region", { name: "database is to get this answer" });
  expect(screen.getByText("low").tagName).toBe("STRONG");
  expect(screen.getAllByText(demoModel.name).length).toBeGreaterThan(0);
  expect(await axeFindings(container)).toEqual([]);
  const counts = () =>
    [onReturn, onWithhold, onRegenerate, onCancel].map((way) => way.mock.calls.length);
  await user.click(button("Return to Server"));
  expect(onReturn).toHaveBeenCalledWith(undefined);
  await user.click(button("Withhold"));
  await user.click(button("Ask Again"));
  expect(onRegenerate).toHaveBeenCalledWith(undefined);
  await user.click(button("Cancel"));
  await user.keyboard("{Escape}");
  expect(counts()).toEqual([1, 1, 1, 2]);
});

test("an edit is made, seen and returned without a mouse", async () => {
  const { user, container, onReturn, onCancel, onDraft } = show();
  button("Edit").focus();
  await user.keyboard(" ");
  const box = screen.getByRole("textbox", { name: "What the server gets" });
  box.focus();
  await user.keyboard("{Control>}a{/Control}The risk is **high**.");
  expect(await axeFindings(container)).toEqual([]);
  await user.keyboard("{Escape}");
  expect(onCancel).not.toHaveBeenCalled();
  expect(document.activeElement).toBe(button("Edit"));
  expect(container.querySelector("del")?.textContent).toBe("low");
  expect(container.querySelector("ins")?.textContent).toBe("high");
  expect(onDraft).toHaveBeenLastCalledWith({ editing: false, text: "The risk is **high**." });
  await user.tab({ shift: true });
  await user.tab({ shift: true });
  await user.keyboard("{Enter}");
  expect(onReturn).toHaveBeenCalledExactlyOnceWith("The risk is **high**.");
});

test("an edit of an earlier life of the view is still there, and can be undone", async () => {
  const { user, onReturn } = show({ draft: { text: "Nothing." } });
  screen.getAllByText("Nothing.");
  await user.click(button("Undo all changes"));
  await user.click(button("Return to Server"));
  expect(onReturn).toHaveBeenCalledExactlyOnceWith(undefined);
});

test("an empty text cannot be returned", async () => {
  const { user, onReturn } = show({ draft: { editing: true } });
  await user.clear(screen.getByRole("textbox", { name: "What the server gets" }));
  screen.getByText("An empty text is no answer: withhold it instead.");
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

test("where another answer is not to be had, it says why", () => {
  show({ question: samplingReview({ problem: "gpt gave no other answer: no quota." }) });
  screen.getByText("gpt gave no other answer: no quota.");
});

test("all ways are shut while an answer is under way", async () => {
  const { user, onReturn, onWithhold, onRegenerate, onCancel } = show({ busy: true });
  for (const name of ["Return to Server", "Withhold", "Ask Again", "Cancel"]) {
    await user.click(button(name));
  }
  for (const way of [onReturn, onWithhold, onRegenerate, onCancel]) {
    expect(way).not.toHaveBeenCalled();
  }
});
