import type { ConfirmServerParams, ServerDefinition } from "@assent/protocol";
import type { ServerToConfirm } from "@assent/protocol/host";
import { act, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { showApp } from "../../testing/app.tsx";
import { axeFindings } from "../../testing/axe.ts";
import { FakeHost } from "../../testing/host.ts";
import { watchInView } from "../../testing/inView.ts";
import { task } from "../../testing/samples.ts";
import { armingMs } from "../ask/useClickGuard.ts";
import { ConfirmBanner } from "./ConfirmBanner.tsx";

const definition: ServerDefinition = {
  transport: "stdio",
  warnings: ["It sets PATH, which can change the program and the code that it loads."],
  command: "npx",
  env: [{ name: "PATH", value: "./tools" }],
};
const toConfirm = (id: string, part: Partial<ConfirmServerParams> = {}): ServerToConfirm => ({
  id,
  server: { serverName: "shop", source: "/ws/.vscode/mcp.json", line: 3, definition, ...part },
});

/** Whether the guard counts its time, as it does for a person. */
const guard = vi.hoisted(() => ({ counts: false }));

vi.mock("../ask/useClickGuard.ts", async (original) => {
  const real = await original<typeof import("../ask/useClickGuard.ts")>();
  return {
    ...real,
    useClickGuard: (...of: Parameters<typeof real.useClickGuard>) =>
      real.useClickGuard(...of) || !guard.counts,
  };
});

async function show(confirmations: readonly ServerToConfirm[]) {
  const host = new FakeHost(task(), [], {
    "host/ready": () => ({ status: { state: "running" }, confirmations }),
    "host/confirmed": () => null,
    "host/openConfiguration": () => null,
  });
  return { host, ...showApp(host) };
}

const question = (name = "shop") =>
  screen.findByRole("group", { name: new RegExp(`^The MCP server ${name} .* Run it\\?`) });
const button = (name: string) => screen.getByRole("button", { name });

test("shows what runs and what it means, and no hidden character of it", async () => {
  const hidden = "\u202e\u200b";
  const { container } = await show([
    toConfirm("a", {
      serverName: `sh${hidden}op`,
      definition: {
        ...definition,
        files: [`/etc/${hidden}`],
        command: `npx${hidden}`,
        url: `https://a.example/${hidden}`,
        env: [{ name: `A${hidden}`, value: "x\nProgram: /usr/bin/npx" }],
      },
    }),
  ]);
  const group = await question(".*");
  const text = group.textContent ?? "";
  expect(text).toContain("The MCP server sh[U+202E][U+200B]op is new in this workspace. Run it?");
  expect(text).toContain("If you run it, it reads /etc/[U+202E][U+200B].");
  expect(text).toContain("⚠ It sets PATH");
  expect(text).toContain("Command: npx[U+202E][U+200B]\n");
  expect(text).toContain(String.raw`Environment: A[U+202E][U+200B]=x\nProgram: /usr/bin/npx`);
  expect(text).toContain("It is configured in /ws/.vscode/mcp.json:3.");
  expect(text).not.toMatch(/[\u202e\u200b]/);
  expect(await axeFindings(container)).toEqual([]);
});

test("a long value is all there, and is reached by the keyboard", async () => {
  const long = "a".repeat(50_000);
  const { user } = await show([
    toConfirm("a", { definition: { ...definition, args: [long, "--evil"] } }),
  ]);
  const text = within(await question()).getByText(/Arguments/);
  expect(text.textContent).toContain(`["${long}","--evil"]`);
  text.focus();
  expect(document.activeElement).toBe(text);
  await user.tab();
  expect(document.activeElement).toBe(button("Run It"));
});

describe("a decision, by the keyboard", () => {
  test.each([
    ["Run It", { id: "a", decision: "allowed" }, []],
    ["Do Not Run It", { id: "a", decision: "refused" }, []],
    ["Show Configuration", { id: "a" }, [{ source: "/ws/.vscode/mcp.json", line: 3 }]],
  ])("%s", async (name, confirmed, opened) => {
    const { host, user } = await show([toConfirm("a"), toConfirm("b", { serverName: "mail" })]);
    await question();
    button(name).focus();
    await user.keyboard("{Enter}");
    await waitFor(() => expect(host.calls("host/confirmed")).toEqual([confirmed]));
    expect(host.calls("host/openConfiguration")).toEqual(opened);
    // The focus stays, and the next question is asked after it.
    expect(document.activeElement?.contains(button(name))).toBe(true);
    await host.tell("host/confirmations", {
      confirmations: [toConfirm("b", { serverName: "mail" })],
    });
    await question("mail");
    await user.tab();
    expect(document.activeElement?.textContent).toContain("Command: npx");
    await user.tab();
    await user.keyboard("{Enter}");
    await waitFor(() =>
      expect(host.calls("host/confirmed")).toEqual([confirmed, { id: "b", decision: "allowed" }]),
    );
  });
});

test("takes no press at first, and one alone", () => {
  vi.useFakeTimers();
  guard.counts = true;
  onTestFinished(() => {
    guard.counts = false;
    vi.useRealTimers();
  });
  const onDecide = vi.fn();
  const ask = (id: string, serverName: string) => (
    <ConfirmBanner
      key={id}
      server={toConfirm(id, { serverName }).server}
      onDecide={onDecide}
      onConfigure={() => {}}
    />
  );
  const { rerender } = render(ask("a", "shop"));
  const press = (name: string) => fireEvent.click(button(name));
  const wait = (ms: number) => act(() => vi.advanceTimersByTime(ms));
  wait(armingMs - 1);
  press("Run It");
  expect(button("Run It").getAttribute("aria-disabled")).toBe("true");
  expect(onDecide).not.toHaveBeenCalled();
  wait(1);
  for (const name of ["Run It", "Run It", "Do Not Run It", "Show Configuration"]) press(name);
  expect(onDecide.mock.calls).toEqual([["allowed"]]);
  // The next question stands where that one stood.
  rerender(ask("b", "mail"));
  press("Run It");
  expect(onDecide).toHaveBeenCalledTimes(1);
  wait(armingMs);
  press("Do Not Run It");
  expect(onDecide.mock.calls).toEqual([["allowed"], ["refused"]]);
});

test("what would run is read to its end before it is allowed, and refused at once", () => {
  vi.useFakeTimers();
  const see = watchInView();
  guard.counts = true;
  onTestFinished(() => {
    guard.counts = false;
    vi.useRealTimers();
  });
  Element.prototype.scrollIntoView = vi.fn();
  const onDecide = vi.fn();
  const ask = (id: string) => (
    <ConfirmBanner key={id} {...toConfirm(id)} onDecide={onDecide} onConfigure={() => {}} />
  );
  const { container, rerender } = render(ask("a"));
  const press = (name: string) => fireEvent.click(button(name));
  const arm = () => act(() => vi.advanceTimersByTime(armingMs));
  const definition = container.querySelector(".server-definition");
  expect(definition?.lastElementChild?.className).toBe("read-to");
  see(false);
  arm();
  expect(screen.queryByRole("button", { name: "Run It" })).toBeNull();
  press("Read on");
  expect(screen.getByText(/^There is more of it/)).toBeDefined();
  see(true);
  // The second half of a double click is no answer.
  press("Run It");
  expect(onDecide).not.toHaveBeenCalled();
  arm();
  press("Run It");
  expect(onDecide.mock.calls).toEqual([["allowed"]]);
  // A person can refuse without reading to the end.
  rerender(ask("b"));
  see(false);
  arm();
  press("Do Not Run It");
  expect(onDecide.mock.calls).toEqual([["allowed"], ["refused"]]);
});

test("asks one question at a time", async () => {
  await show([toConfirm("a"), toConfirm("b", { serverName: "mail" })]);
  await question();
  expect(screen.getAllByText(/Run it\?/)).toHaveLength(1);
});

test("does not take the focus, and goes when the host withdraws it", async () => {
  const { host } = await show([]);
  const composer = await screen.findByRole("textbox");
  composer.focus();
  await host.tell("host/confirmations", { confirmations: [toConfirm("a")] });
  await question();
  expect(document.activeElement).toBe(composer);
  await host.tell("host/confirmations", { confirmations: [] });
  await waitFor(() => expect(screen.queryByText(/Run it\?/)).toBeNull());
});
