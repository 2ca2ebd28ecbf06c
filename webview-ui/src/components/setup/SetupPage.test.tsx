import { ErrorCode, type PlanSetupParams } from "@assent/protocol";
import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { ResponseError } from "vscode-jsonrpc/browser";
import { showApp } from "../../testing/app.tsx";
import { axeFindings } from "../../testing/axe.ts";
import { FakeHost } from "../../testing/host.ts";
import { chooseInHead } from "../../testing/menu.ts";
import { setupPlan, task } from "../../testing/samples.ts";

type Handlers = NonNullable<ConstructorParameters<typeof FakeHost>[2]>;

/** A host with plans that follow the choice as the sidecar's do. */
function hostOf(handlers: Handlers = {}): FakeHost {
  return new FakeHost(task(), [], {
    "setup/plan": ({ choice }: PlanSetupParams) => {
      const plan = setupPlan({ id: JSON.stringify(choice) });
      return choice.withoutHosts?.length === 2 ? { ...plan, files: [] } : plan;
    },
    ...handlers,
  });
}

async function open(host: FakeHost) {
  const app = showApp(host);
  await chooseInHead(app.user, "Set Up Hosts");
  const page = await screen.findByRole("region", { name: "Set Up Hosts" });
  await within(page).findByRole("group", { name: "Hosts" });
  return { ...app, page };
}

const apply = () => screen.getByRole<HTMLButtonElement>("button", { name: "Apply" });

test("shows what would change, and changes nothing by itself", async () => {
  const host = hostOf();
  const { page, container, user } = await open(host);
  expect(document.activeElement).toBe(within(page).getByRole("heading", { level: 2 }));
  const [shop, other, theirs] = within(
    within(page).getByRole("region", { name: "Servers" }),
  ).getAllByRole("listitem");
  expect(shop?.textContent).toBe(
    "shopnpx -y shop-serverConfigured inCodexThrough Assent inCodexProbably has secrets in clear text: env SHOP_TOKEN.",
  );
  expect(other?.textContent).toContain('Configured inCursor as "shop"');
  expect(other?.textContent).toContain(
    'A different server with the name "shop". It differs in: args.',
  );
  expect(theirs?.textContent).toContain("Configured inCursor (project)Through Assent innone");
  const fixed = screen.getByRole<HTMLInputElement>("checkbox", { name: "theirs" });
  expect([fixed.disabled, fixed.checked]).toEqual([true, false]);
  await user.click(screen.getByText("2 files change"));
  await screen.findByText("Afterwards, the servers are in /home/ada/.config/assent/mcp.json.");
  screen.getByText("1 thing is left alone");
  expect(screen.queryByRole("button", { name: "Restore All Files" })).toBeNull();
  await host.caughtUp();
  expect(host.calls("setup/apply")).toEqual([]);
  expect(await axeFindings(container)).toEqual([]);
});

test("applies what was chosen and shown, and says what changed", async () => {
  const host = hostOf({
    "host/ready": () => ({ status: { state: "running" }, setsUp: true }),
    "host/addProgram": () => ({ added: true }),
    "setup/apply": () => ({
      added: ["shop"],
      secrets: 1,
      files: ["/home/ada/.codex/config.toml"],
      problems: [{ path: "/home/ada/.cursor/mcp.json", message: "It changed." }],
    }),
  });
  const { user, container } = await open(host);
  await user.click(screen.getByRole("checkbox", { name: "Cursor" }));
  await user.click(screen.getByRole("checkbox", { name: "shop-cursor" }));
  await user.click(
    screen.getByRole("checkbox", { name: "Give each server to all of these hosts" }),
  );
  await user.click(screen.getByRole("checkbox", { name: /^Move the secrets to the system/ }));
  await user.click(screen.getByRole("checkbox", { name: "shop-cursor" }));
  const choice = { withoutHosts: ["Cursor"], withoutServers: [], share: true };
  await waitFor(() => expect(apply().disabled).toBe(false));
  expect(screen.getByRole<HTMLInputElement>("checkbox", { name: "Cursor" }).checked).toBe(false);
  await user.click(apply());
  await screen.findByText("Moved 1 secret.");
  screen.getByText("Changed 1 file. Restart the programs that are running.");
  screen.getByText("It changed.", { exact: false });
  expect(host.calls("setup/apply")).toEqual([
    { choice, planId: JSON.stringify(choice), moveSecrets: false },
  ]);
  expect(await axeFindings(container)).toEqual([]);
});

test("changes nothing if other programs may not start Assent", async () => {
  const host = hostOf({
    "host/ready": () => ({ status: { state: "running" }, setsUp: true }),
    "host/addProgram": () => ({ added: false }),
  });
  const { user } = await open(host);
  await waitFor(() => expect(apply().disabled).toBe(false));
  await user.click(apply());
  await waitFor(() => expect(host.calls("setup/plan")).toHaveLength(2));
  expect(host.calls("host/addProgram")).toHaveLength(1);
  await host.caughtUp();
  expect(host.calls("setup/apply")).toEqual([]);
});

test("says why nothing was changed, and looks again", async () => {
  const host = hostOf({
    "setup/apply": () => {
      throw new ResponseError(ErrorCode.InvalidParams, "a file has changed: look again");
    },
  });
  const { user } = await open(host);
  await waitFor(() => expect(apply().disabled).toBe(false));
  await user.click(apply());
  await screen.findByText("a file has changed: look again");
  await waitFor(() => expect(host.calls("setup/plan")).toHaveLength(2));
});

test("has nothing to apply without a program", async () => {
  const { user } = await open(hostOf());
  for (const name of ["Codex", "Cursor"]) {
    await user.click(screen.getByRole("checkbox", { name }));
  }
  await screen.findByText("There is nothing to change.");
  expect(apply().disabled).toBe(true);
});

test("restores all files", async () => {
  const host = hostOf({
    "setup/plan": () => setupPlan({ restorable: true, files: [] }),
    "setup/restore": () => ({
      files: [{ path: "/home/ada/.codex/config.toml", how: "merged", notes: ["One stays."] }],
    }),
  });
  const { user } = await open(host);
  await user.click(screen.getByRole("button", { name: "Restore All Files" }));
  const status = await screen.findByText(/Assent took back only its own entries\.$/);
  expect(status.textContent).toMatch(/ One stays\.$/);
  expect(status.closest("[role=status]")).not.toBeNull();
  expect(host.calls("setup/restore")).toHaveLength(1);
});

test("says why it cannot read, and is opened by the host's command", async () => {
  let broken = true;
  const host = new FakeHost(task(), [], {
    "setup/plan": () => {
      if (broken) throw new ResponseError(ErrorCode.InternalError, "mcp.json is damaged");
      return setupPlan();
    },
  });
  const { user } = showApp(host);
  await screen.findByRole("button", { name: "More Actions" });
  await host.tell("host/reveal", { kind: "setup" });
  await screen.findByText("The list could not be read: mcp.json is damaged");
  broken = false;
  await user.click(screen.getByRole("button", { name: "Try Again" }));
  await screen.findByRole("group", { name: "Hosts" });
});

test("without a host, says so, and has nothing to choose or to apply", async () => {
  const { user } = showApp(
    hostOf({
      "setup/plan": () => ({ ...setupPlan(), hosts: [], sought: ["Codex", "Cursor"], files: [] }),
    }),
  );
  await chooseInHead(user, "Set Up Hosts");
  await screen.findByText("No program was found that uses MCP servers.");
  screen.getByText("Assent looks for Codex and Cursor.");
  expect(screen.queryByRole("checkbox", { name: "shop" })).toBeNull();
  expect(screen.queryByText("There is nothing to change.")).toBeNull();
  expect(screen.queryByRole("button", { name: "Apply" })).toBeNull();
});
