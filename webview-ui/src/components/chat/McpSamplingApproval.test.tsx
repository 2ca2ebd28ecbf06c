import type { McpSamplingRequest } from "@assent/protocol";
import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import { axeFindings } from "../../testing/axe.ts";
import { demoModel, otherModel, sampling } from "../../testing/samples.ts";
import { McpSamplingApproval, type McpSamplingApprovalProps } from "./McpSamplingApproval.tsx";

// The half second before an ask can be answered has a test of its own.
vi.mock("./useArmed.ts", () => ({ useArmed: () => true }));

type Data = Omit<McpSamplingApprovalProps, "onChooseModel" | "onApprove" | "onDeny" | "onCancel">;

function show(part: Partial<Data> = {}) {
  const ways = {
    onChooseModel: vi.fn<McpSamplingApprovalProps["onChooseModel"]>(),
    onApprove: vi.fn<McpSamplingApprovalProps["onApprove"]>(),
    onDeny: vi.fn<McpSamplingApprovalProps["onDeny"]>(),
    onCancel: vi.fn<McpSamplingApprovalProps["onCancel"]>(),
  };
  const drawn = render(
    <McpSamplingApproval
      askId="a1"
      serverName="database"
      toolNames={["classify"]}
      request={sampling().samplingRequest}
      model={demoModel}
      models={[demoModel]}
      chosenModelId={undefined}
      busy={false}
      refusal={undefined}
      keep="t1:1"
      {...part}
      {...ways}
    />,
  );
  return { ...ways, ...drawn, user: userEvent.setup() };
}

const approve = () => screen.getByRole("button", { name: "Approve & Send" });

const png = "iVBORw0KGgo=";

const everything: McpSamplingRequest = {
  systemPrompt: "You are *terse*.",
  messages: [
    { role: "user", content: [{ type: "text", text: "Look at this:" }] },
    { role: "user", content: [{ type: "image", data: png, mimeType: "image/png" }] },
    { role: "assistant", content: [{ type: "audio", data: "AAAA", mimeType: "audio/wav" }] },
    { role: "user", content: [{ type: "unknown", raw: { type: "tool_use", name: "x" } }] },
  ],
  maxTokens: 1500,
  temperature: 0,
  stopSequences: ["\n\n", "END"],
  includeContext: "thisServer",
  modelPreferences: {
    hints: [{ name: "claude" }, { name: "gpt" }],
    costPriority: 0,
    speedPriority: 0.5,
    intelligencePriority: 1,
  },
  metadata: { trace: "abc" },
};

test("nothing of the request is hidden", async () => {
  const { container } = show({ request: everything });
  const card = screen.getByRole("region", { name: "database wants a completion" });
  within(card).getByText(
    "4 messages · a system prompt · 1 picture, 1 sound · about 8 tokens of text · at most 1,500 tokens back",
  );
  expect(within(card).getByText("terse").tagName).toBe("EM");
  within(card).getByText("Look at this:");
  expect(within(card).getByRole("img").getAttribute("src")).toBe(`data:image/png;base64,${png}`);
  expect(
    within(card)
      .getByLabelText(/^Sound from the server/)
      .getAttribute("src"),
  ).toBe("data:audio/wav;base64,AAAA");
  within(card).getByText(/"tool_use"/);
  const values = [...container.querySelectorAll("dl > div")].map((row) => row.textContent);
  expect(values).toEqual([
    "Maximum tokens1,500",
    "Temperature0",
    'Stop sequences"\\n\\n", "END"',
    "Context asked forthisServer",
    "Model preferenceslike claude, then gpt; cost 0; speed 0.5; intelligence 1",
  ]);
  within(card).getByText(/"trace": "abc"/);
  expect(await axeFindings(container)).toEqual([]);
});

test("a long text is clamped, and all of it is one press away", async () => {
  const text = "All work and no play. ".repeat(200);
  const { user, container } = show({
    request: { messages: [{ role: "user", content: [{ type: "text", text }] }], maxTokens: 1 },
  });
  expect(container.querySelector(".clamp-some")?.textContent).toContain(text.trim());
  await user.click(screen.getByRole("button", { name: "Show all (4,400 characters)" }));
  expect(container.querySelector(".clamp-some")).toBeNull();
  await user.click(screen.getByRole("button", { name: "Show less" }));
  expect(container.querySelector(".clamp-some")).not.toBeNull();
});

test("approving, denying and putting away are three things", async () => {
  const { user, onApprove, onDeny, onCancel } = show();
  const counts = () => [onApprove, onDeny, onCancel].map((way) => way.mock.calls.length);
  await user.click(approve());
  expect(counts()).toEqual([1, 0, 0]);
  expect(onApprove).toHaveBeenCalledWith(undefined);
  await user.click(screen.getByRole("button", { name: "Deny" }));
  expect(counts()).toEqual([1, 1, 0]);
  await user.click(screen.getByRole("button", { name: "Cancel" }));
  await user.keyboard("{Escape}");
  expect(counts()).toEqual([1, 1, 2]);
});

test("the model that will answer is named", () => {
  show();
  screen.getByText("Demo (not a language model)");
});

test("another model can be chosen, and is named in the approval only then", async () => {
  const { user, onApprove, onChooseModel } = show({ models: [demoModel, otherModel] });
  const select = screen.getByRole("combobox", { name: "Answered by" });
  await user.click(approve());
  expect(onApprove).toHaveBeenLastCalledWith(undefined);
  await user.selectOptions(select, "gpt at localhost");
  expect(onChooseModel).toHaveBeenCalledExactlyOnceWith(otherModel.id);
  await user.click(approve());
  expect(onApprove).toHaveBeenLastCalledWith(otherModel.id);
});

test("the model chosen in an earlier life of the view is still chosen", async () => {
  const { user, onApprove } = show({
    models: [demoModel, otherModel],
    chosenModelId: otherModel.id,
  });
  await user.click(approve());
  expect(onApprove).toHaveBeenLastCalledWith(otherModel.id);
});

test("where nothing was proposed, the first model that can answer is", async () => {
  const { user, onApprove } = show({ model: undefined, models: [otherModel] });
  screen.getByText("gpt at localhost");
  await user.click(approve());
  expect(onApprove).toHaveBeenLastCalledWith(otherModel.id);
});

test("without any model, it says so and can only be denied", async () => {
  const { user, onApprove, onDeny } = show({ model: undefined, models: [] });
  screen.getByText(/^No model can answer\./);
  await user.click(approve());
  expect(onApprove).not.toHaveBeenCalled();
  await user.click(screen.getByRole("button", { name: "Deny" }));
  expect(onDeny).toHaveBeenCalledTimes(1);
});

test("all ways are shut while an answer is under way", async () => {
  const { user, onApprove, onDeny, onCancel } = show({ busy: true });
  await user.click(approve());
  await user.click(screen.getByRole("button", { name: "Deny" }));
  await user.click(screen.getByRole("button", { name: "Cancel" }));
  expect([onApprove, onDeny, onCancel].map((way) => way.mock.calls.length)).toEqual([0, 0, 0]);
});
