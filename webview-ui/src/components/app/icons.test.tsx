import type { ListIconsResult, Tool } from "@assent/protocol";
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, describe, expect, test } from "vitest";
import { ResponseError } from "vscode-jsonrpc/browser";
import { showApp } from "../../testing/app.tsx";
import { axeFindings } from "../../testing/axe.ts";
import { FakeHost } from "../../testing/host.ts";
import { chooseInHead } from "../../testing/menu.ts";
import { ask, call, message, server, task, tool } from "../../testing/samples.ts";

const image = (name: string) => `data:image/png;base64,${name}`;

const icons: ListIconsResult = {
  images: [image("server"), image("light"), image("dark"), image("other")],
  server: { light: 0, dark: 0 },
  tools: { cleanup: { light: 1, dark: 2 } },
  resources: { "db:users": { light: 3, dark: 3 } },
  resourceTemplates: { "db:{table}": { light: 3, dark: 3 } },
  prompts: { review: { light: 3, dark: 3 } },
};

type Handlers = ConstructorParameters<typeof FakeHost>[2];

/** A host with a server that has icons, and with a call of its tool. */
function hostOf(handlers: Handlers = {}, part: Parameters<typeof task>[0] = {}): FakeHost {
  const host = new FakeHost(task(part), [message(1, call())], {
    "icons/list": () => icons,
    "tools/list": () => ({ tools: [{ ...tool, title: "Clean up" }] }),
    "resources/list": () => ({ resources: [{ uri: "db:users", name: "users", title: "Users" }] }),
    "resources/templates/list": () => ({
      resourceTemplates: [{ uriTemplate: "db:{table}", name: "table", title: "A table" }],
    }),
    "prompts/list": () => ({ prompts: [{ name: "review", title: "Review" }] }),
    ...handlers,
  });
  host.servers = [server({ iconsRevision: 1 })];
  return host;
}

/** The sources of the icons in an element. They are decorative, so that they have no name. */
const iconsIn = (element: HTMLElement) =>
  within(element)
    .queryAllByRole("presentation")
    .map((img) => img.getAttribute("src"));

const callRow = () => screen.findByRole("article", { name: /^cleanup/ });
const runner = () => screen.findByRole("region", { name: "Use a server" });
const shows = (element: HTMLElement, ...names: readonly string[]) =>
  waitFor(() => expect(iconsIn(element)).toEqual(names.map(image)));

afterEach(() => document.body.classList.remove("vscode-light"));

describe("an icon of a server", () => {
  test("stands before the name of a call, as the theme has it", async () => {
    const host = hostOf();
    const { container } = showApp(host);
    const row = await callRow();
    await shows(row, "dark");
    expect(await axeFindings(container)).toEqual([]);
    document.body.classList.add("vscode-light");
    await shows(row, "light");
    expect(host.calls("icons/list")).toEqual([{ serverName: "database" }]);
  });

  test("stands in the list of servers, on the page of one and at its offers", async () => {
    const host = hostOf();
    const { user } = showApp(host);
    await chooseInHead(user, "Servers");
    const item = await screen.findByRole("button", { name: /^database/ });
    await shows(item, "server");
    await user.click(item);
    const page = await screen.findByRole("region", { name: "database" });
    await shows(page, "server");
    await user.click(within(page).getByText("Tools"));
    await within(page).findByText("Clean up");
    await shows(page, "server", "dark");
    await user.click(within(page).getByText("Resources"));
    await within(page).findByText("Users");
    await user.click(within(page).getByText("Prompts"));
    await within(page).findByText("Review");
    await shows(page, "server", "dark", "other", "other");
    expect(host.calls("icons/list")).toHaveLength(1);
  });

  test("stands beside what is chosen in the runner", async () => {
    const { user } = showApp(hostOf());
    const region = await runner();
    await within(region).findByRole("option", { name: /^database/ });
    await user.selectOptions(within(region).getByLabelText("Server"), "database");
    await within(region).findByRole("tab", { name: "Tools", selected: true });
    await user.selectOptions(within(region).getByLabelText("Tool"), "Clean up (cleanup)");
    await shows(region, "server", "dark");
    await user.click(within(region).getByRole("tab", { name: "Resources" }));
    await within(region).findByRole("button", { name: /^Users/ });
    const template = within(region).getByLabelText("Template");
    await user.selectOptions(template, "A table (table)");
    await shows(region, "server", "other", "other");
    await user.click(within(region).getByRole("tab", { name: "Prompts" }));
    await user.selectOptions(within(region).getByLabelText("Prompt"), "Review (review)");
    await shows(region, "server", "other");
  });

  test("stands in the title of a question about a tool", async () => {
    const asked: Tool = { name: "cleanup", title: "Clean up" };
    const host = hostOf({}, { openAsks: 1 });
    const question = {
      type: "use_mcp_tool",
      serverName: "database",
      toolUse: { messageId: 1, toolUseId: "1" },
      tool: asked,
      arguments: {},
    } as const;
    host.messages = [message(1, ask("a1", question))];
    showApp(host);
    await shows(await screen.findByRole("region", { name: "Allow Clean up? database" }), "dark");
  });

  test("is left out if it is broken", async () => {
    showApp(hostOf());
    const row = await callRow();
    await shows(row, "dark");
    fireEvent.error(within(row).getByRole("presentation"));
    expect(iconsIn(row)).toEqual([]);
  });

  test("is read again once it has changed", async () => {
    let now = icons;
    const host = hostOf({ "icons/list": () => now });
    showApp(host);
    const row = await callRow();
    await shows(row, "dark");
    now = { images: [image("new")], tools: { cleanup: { light: 0, dark: 0 } } };
    await host.tell("server/changed", server({ state: "stopped", iconsRevision: 1 }));
    await host.tell("server/changed", server({ iconsRevision: 2 }));
    await shows(row, "new");
    expect(host.calls("icons/list")).toHaveLength(2);
  });
});

describe("nothing is shown", () => {
  test("and nothing is read for a server without icons", async () => {
    const host = hostOf();
    host.servers = [server()];
    showApp(host);
    await callRow();
    await within(await runner()).findByRole("option", { name: /^database/ });
    await host.caughtUp();
    expect(iconsIn(document.body)).toEqual([]);
    expect(host.calls("icons/list")).toEqual([]);
  });

  test("if the icons cannot be read, and no error either", async () => {
    const host = hostOf({
      "icons/list": () => {
        throw new ResponseError(-32603, "it has none");
      },
    });
    showApp(host);
    const row = await callRow();
    await waitFor(() => expect(host.calls("icons/list")).toHaveLength(1));
    await host.caughtUp();
    expect(iconsIn(row)).toEqual([]);
    expect(screen.queryByText(/it has none/)).toBeNull();
  });

  test("for a server that was configured again and has not started since", async () => {
    const host = hostOf();
    showApp(host);
    const row = await callRow();
    await shows(row, "dark");
    await host.tell("servers/changed", { servers: [server({ state: "stopped" })] });
    await shows(row);
  });

  test("in a conversation of another workspace, whose servers are others", async () => {
    const host = hostOf({}, { workspace: "api" });
    showApp(host);
    const row = await callRow();
    await screen.findByRole("region", { name: "Another workspace" });
    await host.caughtUp();
    expect(iconsIn(row)).toEqual([]);
    expect(host.calls("icons/list")).toEqual([]);
  });
});
