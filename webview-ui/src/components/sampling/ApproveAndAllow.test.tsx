import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import { axeFindings } from "../../testing/axe.ts";
import { descriptionOf } from "../../testing/dom.ts";
import { demoModel, otherModel, sampling } from "../../testing/samples.ts";
import { McpSamplingApproval, type McpSamplingApprovalProps } from "./McpSamplingApproval.tsx";

// The half second before an ask can be answered has a test of its own.
vi.mock("../ask/useClickGuard.ts", () => ({ useClickGuard: () => true }));

function show(part: Partial<McpSamplingApprovalProps> = {}) {
  const onApprove = vi.fn<McpSamplingApprovalProps["onApprove"]>();
  const onDraft = vi.fn<McpSamplingApprovalProps["onDraft"]>();
  const onCancel = vi.fn();
  const drawn = render(
    <McpSamplingApproval
      askId="a1"
      serverName="database"
      toolNames={["classify"]}
      request={sampling().samplingRequest}
      model={demoModel}
      models={[demoModel, otherModel]}
      draft={undefined}
      busy={false}
      refusal={undefined}
      keep="t1:1"
      onDraft={onDraft}
      onApprove={onApprove}
      onDecline={() => {}}
      onCancel={onCancel}
      {...part}
    />,
  );
  return { ...drawn, onApprove, onDraft, onCancel, user: userEvent.setup() };
}

const more = () => screen.getByRole("button", { name: "More Ways to Approve" });
const allow = () => screen.getByRole("button", { name: "Approve and Allow" });

test("a grant is made with the approval, by the keyboard alone", async () => {
  const { user, onApprove, onCancel, container } = show();
  more().focus();
  await user.keyboard("{ArrowDown}");
  expect(more().getAttribute("aria-expanded")).toBe("true");
  await user.keyboard("{Enter}");
  expect(document.activeElement).toBe(screen.getByRole("radio", { name: "Within bounds" }));
  expect(await axeFindings(container)).toEqual([]);
  await user.tab();
  expect(document.activeElement).toBe(screen.getByRole("textbox", { name: "Requests" }));
  await user.keyboard("{Control>}a{/Control}3");
  expect(descriptionOf(allow())).toBe(
    "Up to 3 requests from database during classify, to Demo (not a language model). You see each answer.",
  );
  allow().focus();
  await user.keyboard("{Enter}");
  expect(onApprove).toHaveBeenCalledExactlyOnceWith({
    grant: {
      serverName: "database",
      toolName: "classify",
      models: [demoModel.id],
      maxRequests: 3,
      review: true,
    },
  });
  await user.keyboard("{Escape}");
  expect(document.activeElement).toBe(screen.getByRole("region"));
  expect(screen.queryByRole("button", { name: "Approve and Allow" })).toBeNull();
  expect(onCancel).not.toHaveBeenCalled();
});

test("a plain approval creates none, with any text in the form", async () => {
  const { user, onApprove } = show({ draft: { "grant open": true } });
  expect(screen.queryByRole("button", { name: "Approve & Send" })).toBeNull();
  await user.click(screen.getByRole("button", { name: "Back" }));
  await user.click(screen.getByRole("button", { name: "Approve & Send" }));
  expect(onApprove).toHaveBeenCalledExactlyOnceWith({});
});

test("all of it can be said", async () => {
  const { user, onApprove, onDraft } = show({
    draft: { "grant open": true, "grant span": "session" },
  });
  expect(screen.queryByRole("textbox", { name: "Requests" })).toBeNull();
  await user.click(screen.getByRole("radio", { name: /^Any of the 2 models/ }));
  await user.click(screen.getByRole("checkbox", { name: "Only during the tool classify" }));
  await user.click(screen.getByRole("checkbox", { name: /^Review each answer/ }));
  expect(onDraft).toHaveBeenLastCalledWith({
    "grant open": true,
    "grant span": "session",
    "grant any model": true,
    "grant any tool": true,
    "grant unseen": true,
  });
  await user.click(allow());
  expect(onApprove).toHaveBeenCalledExactlyOnceWith({
    grant: { serverName: "database", models: [demoModel.id, otherModel.id], session: true },
  });
});

test("money is a bound only where the price is known", async () => {
  const priced = { ...demoModel, inputCost: 0, outputCost: 0 };
  const { unmount } = show({ draft: { "grant open": true } });
  expect(screen.queryByRole("textbox", { name: /^Cost/ })).toBeNull();
  unmount();
  show({ draft: { "grant open": true }, model: priced, models: [priced] });
  screen.getByRole("textbox", { name: "Cost, in US dollars" });
});

test("where several tools may ask, none can be the only one", () => {
  show({ draft: { "grant open": true }, toolNames: ["a", "b"] });
  expect(screen.queryByRole("checkbox", { name: /^Only during/ })).toBeNull();
});

test("without a bound there is no grant, and it says so", async () => {
  const { user, onApprove } = show({ draft: { "grant open": true } });
  await user.clear(screen.getByRole("textbox", { name: "Requests" }));
  screen.getByText("Set a bound, or choose this session.");
  await user.click(allow());
  expect(onApprove).not.toHaveBeenCalled();
});

test("what the sidecar finds wrong with a bound is said at it", () => {
  show({
    draft: { "grant open": true },
    fieldProblems: [{ name: "maxRequests", message: "At most 1000." }],
  });
  expect(descriptionOf(screen.getByRole("textbox", { name: "Requests" }))).toBe("At most 1000.");
});
