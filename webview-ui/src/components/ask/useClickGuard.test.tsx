import { act, fireEvent, render, screen } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { declineAll, dismiss } from "../../testing/menu.ts";
import { elicitation, sampling, samplingReview } from "../../testing/samples.ts";
import { McpElicitationForm } from "../elicitation/McpElicitationForm.tsx";
import { McpURLConsent } from "../elicitation/McpURLConsent.tsx";
import { McpSamplingApproval } from "../sampling/McpSamplingApproval.tsx";
import { McpSamplingReview } from "../sampling/McpSamplingReview.tsx";
import { armingMs } from "./useClickGuard.ts";

const nothing = () => {};

test("a form that just appeared cannot be answered in any way", async () => {
  vi.useFakeTimers();
  const ways = { onAccept: vi.fn(), onDecline: vi.fn(), onDeclineAll: vi.fn(), onCancel: vi.fn() };
  render(
    <McpElicitationForm
      askId="a1"
      serverName="database"
      toolNames={[]}
      request={elicitation().elicitationRequest}
      busy={false}
      refusal={undefined}
      problems={undefined}
      draft={undefined}
      onDraft={nothing}
      {...ways}
    />,
  );
  const tryAll = async () => {
    fireEvent.keyDown(screen.getByRole("textbox", { name: "Reason" }), { key: "Enter" });
    fireEvent.click(screen.getByRole("button", { name: "Submit" }));
    fireEvent.click(screen.getByRole("button", { name: "Decline" }));
    declineAll();
    dismiss();
    fireEvent.keyDown(screen.getByRole("textbox", { name: "Reason" }), { key: "Escape" });
    await act(() => vi.advanceTimersByTimeAsync(0)); // the form is checked before it is submitted
    return Object.values(ways).map((way) => way.mock.calls.length);
  };
  expect(screen.getByRole("button", { name: "Submit" }).getAttribute("aria-disabled")).toBe("true");
  expect(await tryAll()).toEqual([0, 0, 0, 0]);
  act(() => vi.advanceTimersByTime(armingMs - 1));
  expect(await tryAll()).toEqual([0, 0, 0, 0]);
  act(() => vi.advanceTimersByTime(1));
  expect(screen.getByRole("button", { name: "Submit" }).getAttribute("aria-disabled")).toBe(
    "false",
  );
  expect(await tryAll()).toEqual([1, 1, 1, 1]);
});

test("a request for a completion does not either", () => {
  vi.useFakeTimers();
  const ways = { onApprove: vi.fn(), onDecline: vi.fn(), onCancel: vi.fn() };
  render(
    <McpSamplingApproval
      askId="a1"
      serverName="database"
      toolNames={[]}
      request={sampling().samplingRequest}
      model={sampling().model}
      models={undefined}
      draft={undefined}
      onDraft={nothing}
      busy={false}
      refusal={undefined}
      keep="t1:1"
      {...ways}
    />,
  );
  const tryAll = () => {
    for (const name of ["Approve & Send", "Decline"]) {
      fireEvent.click(screen.getByRole("button", { name }));
    }
    dismiss();
    return Object.values(ways).map((way) => way.mock.calls.length);
  };
  expect(tryAll()).toEqual([0, 0, 0]);
  act(() => vi.advanceTimersByTime(armingMs));
  expect(tryAll()).toEqual([1, 1, 1]);
});

test("nor the review of an answer", () => {
  vi.useFakeTimers();
  const ways = { onReturn: vi.fn(), onRegenerate: vi.fn(), onDecline: vi.fn(), onCancel: vi.fn() };
  render(
    <McpSamplingReview
      askId="a1"
      question={samplingReview()}
      models={undefined}
      draft={undefined}
      onDraft={nothing}
      busy={false}
      refusal={undefined}
      keep="t1:1"
      {...ways}
    />,
  );
  const tryAll = () => {
    for (const name of ["Return to Server", "Ask Again", "Decline"]) {
      fireEvent.click(screen.getByRole("button", { name }));
    }
    dismiss();
    return Object.values(ways).map((way) => way.mock.calls.length);
  };
  expect(tryAll()).toEqual([0, 0, 0, 0]);
  act(() => vi.advanceTimersByTime(armingMs));
  expect(tryAll()).toEqual([1, 1, 1, 1]);
});

test("a page that was just opened is not marked as done by the second half of a double click", () => {
  vi.useFakeTimers();
  const ways = {
    onOpen: vi.fn(),
    onDone: vi.fn(),
    onDecline: vi.fn(),
    onDeclineAll: vi.fn(),
    onCancel: vi.fn(),
  };
  const card = (waiting: boolean) => (
    <McpURLConsent
      askId="a1"
      serverName="database"
      toolNames={[]}
      message=""
      url="https://example.com/"
      waiting={waiting}
      opening={false}
      busy={false}
      refusal={undefined}
      {...ways}
    />
  );
  const { rerender } = render(card(false));
  act(() => vi.advanceTimersByTime(armingMs));
  rerender(card(true));
  const done = screen.getByRole("button", { name: "Done" });
  fireEvent.click(done);
  fireEvent.click(screen.getByRole("button", { name: "Open Again" }));
  for (const way of Object.values(ways)) expect(way).not.toHaveBeenCalled();
  act(() => vi.advanceTimersByTime(armingMs));
  fireEvent.click(done);
  expect(ways.onDone).toHaveBeenCalledOnce();
});
