import type { Notice } from "@assent/protocol";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import type { Actions } from "../../store/session.ts";
import { axeFindings } from "../../testing/axe.ts";
import { entryOf } from "../../testing/entries.ts";
import { message } from "../../testing/samples.ts";
import { ChatRow } from "./ChatRow.tsx";

const reveal = vi.fn<Actions["reveal"]>();
const actions = { reveal } as Partial<Actions> as Actions;

function show(unavailable: NonNullable<Notice["unavailable"]>, text: string) {
  const body: Notice & { type: "notice" } = { type: "notice", level: "warning", text, unavailable };
  return render(<ChatRow taskId="t1" entry={entryOf(message(1, body))} actions={actions} />);
}

const two = [
  { serverName: "uvxx", reason: "The program “uvxx” was not found in any of 12 folders." },
  { serverName: "slow", reason: "It has not answered yet." },
];

test("servers that are not available are one line, with the reasons folded", async () => {
  const { container } = show(two, "2 of 6 servers are not available.");
  expect(container.textContent).toContain("2 of 6 servers are not available.");
  expect(screen.queryByText(/was not found/)).toBeNull();
  await userEvent.setup().click(screen.getByText("2 of 6 servers are not available."));
  expect(await screen.findAllByRole("listitem")).toHaveLength(2);
  screen.getByText(/was not found in any of 12 folders/);
  expect(await axeFindings(container)).toEqual([]);
  await userEvent.setup().click(screen.getByRole("button", { name: "slow" }));
  expect(reveal).toHaveBeenLastCalledWith({ kind: "servers", serverName: "slow" });
});

test("the model can be asked again while the notice is of the last turn", async () => {
  const retryChat = vi.fn<Actions["retryChat"]>();
  const body: Notice & { type: "notice" } = {
    type: "notice",
    level: "warning",
    text: "The server “slow” has not answered yet. The model answers without its tools.",
    unavailable: two.slice(1),
  };
  const row = (asksAgain: boolean) => (
    <ChatRow
      taskId="t1"
      entry={entryOf(message(1, body))}
      actions={{ ...actions, retryChat }}
      asksAgain={asksAgain}
    />
  );
  const { rerender } = render(row(true));
  await userEvent.setup().click(screen.getByRole("button", { name: "Ask Again" }));
  expect(retryChat).toHaveBeenCalledWith("t1");
  rerender(row(false));
  expect(screen.queryByRole("button", { name: "Ask Again" })).toBeNull();
});

test("its details are the list of servers, or the page of the one", async () => {
  const user = userEvent.setup();
  const { unmount } = show(two, "2 of 6 servers are not available.");
  await user.click(screen.getByRole("button", { name: "Details" }));
  expect(reveal).toHaveBeenLastCalledWith({ kind: "servers" });
  unmount();
  show(two.slice(0, 1), "The server uvxx is not available: there is none.");
  screen.getByText(/there is none/);
  await user.click(screen.getByRole("button", { name: "Details" }));
  expect(reveal).toHaveBeenLastCalledWith({ kind: "servers", serverName: "uvxx" });
});
