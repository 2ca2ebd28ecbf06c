import type { Server } from "@assent/protocol";
import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, test, vi } from "vitest";
import { ServersContext } from "../../store/contexts.ts";
import { MemoryStorage } from "../../testing/app.tsx";
import { axeFindings } from "../../testing/axe.ts";
import { ViewContext } from "../../view/ViewContext.ts";
import { ViewStateStore } from "../../view/viewState.ts";
import { AskCard } from "./AskCard.tsx";
import { AskMessage } from "./AskMessage.tsx";

const server: Server = {
  name: "database",
  source: "/home/ada/work/.vscode/mcp.json",
  transport: "stdio",
  command: "npx -y database-server --key $KEY",
  state: "running",
};

function show(text: string, servers: readonly Server[] | undefined = [server], tool = "cleanup") {
  const onCancel = vi.fn<() => void>();
  const drawn = render(
    <ViewContext value={new ViewStateStore(new MemoryStorage())}>
      <ServersContext value={servers}>
        <AskCard
          askId="a1"
          serverName="database"
          toolNames={[tool]}
          icon="question"
          does="asks"
          busy={false}
          reading={{ state: "read", scrolled: false, end: () => undefined, holds: () => false }}
          actions={<button type="button">Submit</button>}
        >
          <AskMessage askId="a1" serverName="database" text={text} />
        </AskCard>
      </ServersContext>
    </ViewContext>,
  );
  const says = () => screen.getByRole("blockquote", { name: "What database says" });
  return { ...drawn, says, onCancel, user: userEvent.setup() };
}

describe("a message that would pass for Assent's own words", () => {
  test.each([
    ["a heading of a card's", "# go-example asks\n\n## Assent\n\nThis server is verified."],
    ["HTML", '<section class="ask-card"><h2>Assent asks</h2><button>Submit</button></section>'],
    ["a form", '<form><input name="password"><textarea></textarea><select></select></form>'],
    ["styles", '<style>.ask-head{display:none}</style><p style="position:fixed">x</p>'],
    ["a frame", '<iframe src="https://evil.example"></iframe><object data="x"></object>'],
    ["a table", "| Assent asks | |\n|---|---|\n| [Submit](command:x) | [Decline](#) |"],
    ["a picture", "![Assent](https://evil.example/logo.png) ![](data:image/png;base64,AAAA)"],
    ["an icon", '<span class="codicon codicon-verified"></span> $(verified) database'],
    ["a box to tick", "- [x] I trust this server"],
    ["an id", '<div id="ask-a1">x</div> [x](#ask-a1)\n\n[^1]: note'],
  ])("cannot by %s", (_, text) => {
    const { container, says } = show(text);
    const inside = within(says());
    // All that it says is in its own quote, below the card's head, and nothing of it is a control.
    expect(screen.getAllByRole("region")).toHaveLength(1);
    expect(screen.getAllByRole("heading", { level: 2 })).toHaveLength(1);
    for (const role of ["button", "textbox", "checkbox", "combobox", "img", "link"] as const) {
      expect(inside.queryByRole(role)).toBeNull();
    }
    expect(says().querySelector("h1, h2, style, iframe, object, form, [style], [id]")).toBeNull();
    expect(says().querySelector(".codicon, .ask-card, .ask-head")).toBeNull();
    expect(container.querySelectorAll("#ask-a1")).toHaveLength(1);
  });

  test("cannot by what turns the order of letters, or hides them", () => {
    const { says } = show(
      "pay\u202e01 \u2066$\u2069 \u200f\u001b[31m\u0000\u0008\u3164\u2028x\ufe0f\ufe00",
    );
    expect(says().textContent).toBe(
      "pay[U+202E]01 [U+2066]$[U+2069] [U+200F][U+001B][31m[U+0000][U+0008][U+3164][U+2028]x[U+FE0F][U+FE00]",
    );
  });

  test("cannot by the name of its tool", () => {
    show("", [server], `cleanup\u202e${"x".repeat(1_000)}`);
    screen.getByText(/^during the tool call cleanup\[U\+202E\]x{200,300}… · /);
  });

  test("shows where its links lead, and is easy to the ear", async () => {
    const { container, says } = show("[Settings](https://evil.example/assent) of **Assent**");
    within(says()).getByText("(https://evil.example/assent)");
    expect(await axeFindings(container)).toEqual([]);
  });
});

test("a long message shows its beginning, and all of it on demand", async () => {
  const text = "A line of words.\n\n".repeat(6_000).slice(0, 100_000);
  const { says, user } = show(text);
  expect(says().querySelector(".clamp-some")).not.toBeNull();
  const more = within(says()).getByRole("button", { name: "Show all (100,000 characters)" });
  await user.click(more);
  expect(says().querySelector(".clamp-some")).toBeNull();
  within(says()).getByRole("button", { name: "Show less" });
});

describe("who asks", () => {
  test("is said beyond the name: the file, and what runs", async () => {
    const { user, container } = show("Hello");
    await user.click(
      screen.getByText("during the tool call cleanup · configured in .vscode/mcp.json"),
    );
    screen.getByText("during the tool call cleanup");
    screen.getByText("/home/ada/work/.vscode/mcp.json");
    screen.getByText("Command");
    screen.getByText("npx -y database-server --key $KEY");
    expect(await axeFindings(container)).toEqual([]);
  });

  test("is said of a server of the settings", async () => {
    const url = "https://mcp.example.com/";
    const { user } = show("", [{ ...server, source: "settings", transport: "http", command: url }]);
    await user.click(screen.getByText(/ · configured in your settings$/));
    screen.getByText("URL");
    screen.getByText(url);
    expect(screen.queryByText("File")).toBeNull();
  });

  test("says that the server is no longer configured", () => {
    show("", []);
    screen.getByText(/ · no longer configured$/);
  });
});

test.each([
  ["Deploy now?\nIt has 3 commits.", "It has 3 commits."],
  ["## Deploy **now**?\n\nIt has 3 commits.", "It has 3 commits."],
  ["- one\n- two", "one\ntwo"],
  ["Deploy\n======\nnow?", "Deploy\nnow?"],
])("a message below its heading does not repeat it: %j", (text, below) => {
  render(<AskMessage askId="a1" serverName="database" text={text} headed />);
  const lines = screen.getByRole("blockquote").textContent?.trim().split(/\n+/);
  expect(lines?.join("\n")).toBe(below);
});

test("a message that the heading cuts stays whole", () => {
  const long = `Delete ${"all ".repeat(100)}rows?`;
  const { rerender } = render(<AskMessage askId="a1" serverName="database" text={long} headed />);
  expect(screen.getByRole("blockquote").textContent).toContain("rows?");
  rerender(<AskMessage askId="a1" serverName="database" text="Delete **all** rows?" headed />);
  expect(screen.queryByRole("blockquote")).toBeNull();
});
