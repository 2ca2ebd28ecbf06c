import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { showApp } from "../../testing/app.tsx";
import { axeFindings } from "../../testing/axe.ts";
import { FakeHost } from "../../testing/host.ts";
import { chooseInHead, inHead } from "../../testing/menu.ts";
import { ask, elicitation, message, server, task } from "../../testing/samples.ts";

// Pages in place of the task: the way to them and back, and the question that waits meanwhile.

const form = (id: number, serverName: string) =>
  message(id, ask(`a${id}`, elicitation(undefined, { serverName })));

function hostWithPages(): FakeHost {
  const messages = [form(1, "database"), form(2, "mail")];
  return new FakeHost(task({ openAsks: 2 }), messages, {
    "server/inspect": () => ({ server: server(), counts: {} }),
    "policy/list": () => ({ entries: [] }),
  });
}

const heading = (name: string) => screen.findByRole("heading", { name, level: 2 });
const focus = () => document.activeElement;

test("each page leads back to where it was opened, by the button and by Escape", async () => {
  const host = hostWithPages();
  host.servers = [server()];
  const { user } = showApp(host);
  await chooseInHead(user, "Servers");
  expect(focus()).toBe(await heading("Servers"));
  await user.click(await screen.findByRole("button", { name: /^databaserunning/ }));
  await waitFor(async () => expect(focus()).toBe(await heading("database")));
  await user.click(screen.getByRole("button", { name: "Show Automatic Answers" }));
  await waitFor(async () => expect(focus()).toBe(await heading("Automatic Answers")));
  await user.click(screen.getByRole("button", { name: "Back (Escape)" }));
  await waitFor(async () => expect(focus()).toBe(await heading("database")));
  await user.keyboard("{Escape}");
  await waitFor(() =>
    expect(focus()).toBe(screen.getByRole("button", { name: /^databaserunning/ })),
  );
  await user.keyboard("{Escape}");
  await waitFor(() => expect(focus()).toBe(screen.getByRole("button", { name: "More Actions" })));
  expect(screen.queryByRole("heading", { name: "Servers" })).toBeNull();
});

test("an entry of the menu keeps the focus while its count changes", async () => {
  const host = hostWithPages();
  const { user } = showApp(host);
  const entry = await inHead(user, "Servers");
  entry.focus();
  await host.tell("servers/changed", { servers: [server({ state: "failed" })] });
  expect(await screen.findByRole("menuitem", { name: "Servers (1 failed)" })).toBe(focus());
  await user.keyboard("{Enter}");
  await heading("Servers");
});

test("the task behind a page keeps what was typed, and is out of reach", async () => {
  const host = hostWithPages();
  const { user } = showApp(host);
  const field = await screen.findByRole("textbox", { name: "Message" });
  await user.type(field, "half a");
  await chooseInHead(user, "MCP Tasks");
  expect(field.closest("[inert]")).not.toBeNull();
  await user.keyboard("{Control>}f{/Control}");
  expect(screen.queryByRole("textbox", { name: "Find in this task" })).toBeNull();
  await user.keyboard("{Escape}");
  expect(field.closest("[inert]")).toBeNull();
  expect(field).toHaveProperty("value", "half a");
});

test("below a page, a line has the question that is before the person, and leads to it", async () => {
  const { user, container } = showApp(hostWithPages());
  await chooseInHead(user, "MCP Tasks");
  const page = await heading("MCP tasks");
  const [line] = await within(page.closest("main") as HTMLElement).findAllByRole("button", {
    name: /^1 of 2/,
  });
  expect(line?.textContent).toBe("1 of 2Delete 1,204 rows? database asks");
  expect(await axeFindings(container)).toEqual([]);
  await user.click(line as HTMLElement);
  const card = await screen.findByRole("region", { name: "database asks" });
  await waitFor(() => expect(focus()).toBe(card));
  expect(page.isConnected).toBe(false);
});

test.each([
  { what: "a text for the composer", reveal: { kind: "draft", text: "of an editor" } },
  { what: "a question", reveal: { kind: "ask" } },
  { what: "another task", reveal: { kind: "task", taskId: "t1" } },
  { what: "the runner", reveal: { kind: "toolRunner" } },
] as const)("$what takes the place of a page", async ({ reveal }) => {
  const host = hostWithPages();
  host.servers = [server()];
  const { user } = showApp(host);
  await chooseInHead(user, "MCP Tasks");
  const page = await heading("MCP tasks");
  await host.tell("host/reveal", reveal);
  await waitFor(() => expect(page.isConnected).toBe(false));
  await waitFor(() => expect(focus()?.closest("[inert]") ?? null).toBeNull());
});
