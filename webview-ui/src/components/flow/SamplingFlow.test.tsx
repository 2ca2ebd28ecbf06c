import { screen, waitFor } from "@testing-library/react";
import { describe, expect, test, vi } from "vitest";
import { showApp } from "../../testing/app.tsx";
import { FakeHost } from "../../testing/host.ts";
import { answered, ask, elicitation, message, sampling, task } from "../../testing/samples.ts";

// In the whole panel, whose words are what is to be seen: jsdom has no sizes, so nothing is drawn.
vi.mock("../chat/useArmed.ts", () => ({ useArmed: () => true }));

const request = message(1, ask("s1", sampling()));
const waiting = task({ openAsks: 1 });
const whereItIs = () => screen.queryByText("Where it is");

describe("where a request is", () => {
  test("is told from the approval to the end, and then no more", async () => {
    const host = new FakeHost(waiting, [request]);
    showApp(host);
    await screen.findByText(/^It is with you: the request of database/);
    await host.event({ type: "askSettled", messageId: 1, outcome: answered }, 0);
    await screen.findByText(/^It is with the model: you approved/);
    await host.tell("mcpSamplingProgress", {
      taskId: "t1",
      messageId: 1,
      sequence: 0,
      chunk: "The risk",
    });
    await screen.findByText(/^It is with the model: .* is answering/);
    await host.event({
      type: "samplingEnded",
      messageId: 1,
      result: { type: "failure", reason: "The model is gone." },
    });
    await waitFor(() => expect(whereItIs()).toBeNull());
  });

  test("stays closed where the person closed it", async () => {
    const host = new FakeHost(waiting, [request]);
    const { user } = showApp(host);
    await user.click(await screen.findByText("Where it is"));
    await waitFor(() => expect(screen.queryByText(/^It is with you/)).toBeNull());
    await host.event({ type: "askSettled", messageId: 1, outcome: answered }, 0);
    await screen.findByText("Approved");
    expect(whereItIs()).toBeTruthy();
    expect(screen.queryByText(/^It is with the model/)).toBeNull();
  });

  test("is told while the setting says so, and of sampling alone", async () => {
    const host = new FakeHost(waiting, [request, message(2, ask("a1", elicitation()))], {
      "host/ready": () => ({
        status: { state: "running" },
        settings: { samplingDiagram: false },
      }),
    });
    showApp(host);
    await screen.findByRole("region", { name: "database wants a completion" });
    expect(whereItIs()).toBeNull();
    await host.tell("host/settings", { samplingDiagram: true });
    expect(await screen.findAllByText("Where it is")).toHaveLength(1);
    await host.tell("host/settings", { samplingDiagram: false });
    await waitFor(() => expect(whereItIs()).toBeNull());
  });
});
