import { screen, waitFor } from "@testing-library/react";
import { describe, expect, test, vi } from "vitest";
import { showApp } from "../../testing/app.tsx";
import { FakeHost } from "../../testing/host.ts";
import {
  answered,
  ask,
  elicitation,
  message,
  sampling,
  samplingReview,
  task,
} from "../../testing/samples.ts";

// In the whole panel. These tests check the words only, because jsdom cannot lay out the picture.
vi.mock("../ask/useClickGuard.ts", () => ({ useClickGuard: () => true }));

const request = message(1, ask("s1", sampling()));
const waiting = task({ openAsks: 1 });
const stepper = () => screen.queryByRole("list", { name: "Progress of the request" });
const now = () => stepper()?.querySelector("[aria-current=step]")?.textContent;
const steps = () => stepper()?.textContent;

describe("where a request is", () => {
  test("is told from the approval to the end, and then no more", async () => {
    const host = new FakeHost(waiting, [request]);
    showApp(host);
    await screen.findByText(/^With you: the request of database/);
    expect([steps(), now()]).toEqual(["ServerYouModelYouServer", "You"]);
    await host.event({ type: "askSettled", messageId: 1, outcome: answered }, 0);
    await screen.findByText(/^With the model: you approved/);
    expect(now()).toBe("Model");
    await host.tell("mcpSamplingProgress", {
      taskId: "t1",
      messageId: 1,
      sequence: 0,
      chunk: "The risk",
    });
    await screen.findByText(/^With the model: .* is answering/);
    await host.event({
      type: "samplingEnded",
      messageId: 1,
      result: { type: "failure", reason: "The model is gone." },
    });
    await waitFor(() => expect(stepper()).toBeNull());
  });

  test("is drawn where the person wants a picture of it, and stays so", async () => {
    const host = new FakeHost(waiting, [request]);
    const { user } = showApp(host);
    await screen.findByText(/^With you/);
    expect(document.querySelector(".diagram")).toBeNull();
    await user.click(screen.getByText(/^during the tool call classify/));
    await user.click(await screen.findByText("Show diagram"));
    await waitFor(() => expect(document.querySelector(".diagram")).not.toBeNull());
    expect(document.querySelector(".diagram")?.closest(".ask-body")).not.toBeNull();
    await host.event({ type: "askSettled", messageId: 1, outcome: answered }, 0);
    await screen.findByText(/^You let/);
    expect(document.querySelector(".diagram")).not.toBeNull();
  });

  test("is with the person again in the review", async () => {
    showApp(new FakeHost(waiting, [message(1, ask("r1", samplingReview()))]));
    await screen.findByText(/^With you: .* has answered/);
    const marks = [...(stepper()?.children ?? [])].map((step) => step.getAttribute("aria-current"));
    expect(marks).toEqual([null, null, null, "step", null]);
  });

  test("has a picture of sampling alone", async () => {
    const { user } = showApp(
      new FakeHost(waiting, [request, message(2, ask("a1", elicitation()))]),
    );
    await screen.findByRole("region", { name: "database wants to ask a model" });
    await user.click(screen.getByText(/^during the tool call classify/));
    expect(await screen.findAllByText("Show diagram")).toHaveLength(1);
  });
});
