import assert from "node:assert/strict";
import type { Locator } from "playwright-core";
import type { Panel } from "../panel.ts";
import type { ThirdParty } from "./servers.ts";

/**
 * The tested features, in the order of the table. An MCP task takes seconds, and runs while others are tested.
 */
export const features = [
  "lists",
  "task",
  "tool",
  "content",
  "resource",
  "template",
  "prompt",
  "roots",
  "task asks",
  "sampling",
  "form",
  "page",
  "page first",
  "ask as task",
  "task ends",
] as const;

export type Feature = (typeof features)[number];

/** Uses one feature of a server through the panel, and fails unless the chat shows the expected result. */
export interface Check {
  (panel: Panel, server: string): Promise<void>;
  /** Goes into the table in place of the time that it took. */
  readonly verdict?: string;
}

export type Checks = Readonly<Partial<Record<Feature, Check>>>;

/** What a server has of the features, and how that is seen. */
export function checksOf({ program, fallsBack }: ThirdParty): Checks {
  switch (program) {
    case "server-everything":
      return everything;
    case "server-filesystem":
      return filesystemServer;
    case "go-sdk everything":
      return fallsBack === true ? newestGoEverything : goEverything;
    case "go-sdk sse":
      return goSSE;
    default:
      return unreachable(program);
  }
}

const everything: Checks = {
  async lists(panel, server) {
    await offers(panel, server, "Tools", "Tool", ["Echo Tool (echo)", "Get Sum Tool (get-sum)"]);
    await offers(panel, server, "Resources", "Template", ["Dynamic Text Resource"]);
    await offers(panel, server, "Prompts", "Prompt", ["Simple Prompt (simple-prompt)"]);
  },
  async tool(panel, server) {
    await runTool(panel, server, "echo", { message: "héllo <b>there</b>" });
    assert.equal(await result(panel.call(server, "echo")), "Echo: héllo <b>there</b>");
  },
  async content(panel, server) {
    await runTool(panel, server, "get-tiny-image");
    const image = panel.call(server, "get-tiny-image").getByRole("img", { name: /image\/png/ });
    await image.waitFor();
  },
  async sampling(panel, server) {
    const tool = "trigger-sampling-request";
    await runTool(panel, server, tool, { prompt: "What is sampling?", maxTokens: "5" });
    await approve(panel, server, /What is sampling\?/);
    const [, raw = ""] = (await result(panel.call(server, tool))).split("LLM sampling result: ");
    assert.partialDeepStrictEqual(JSON.parse(raw), {
      role: "assistant",
      content: { type: "text" },
      stopReason: "maxTokens",
    });
  },
  async form(panel, server) {
    await runTool(panel, server, "trigger-elicitation-request");
    await submit(panel, server, async (form) => {
      await form.getByRole("textbox", { name: "String", exact: true }).fill("Ada");
      await form.getByRole("checkbox", { name: "Boolean" }).check();
      await form.getByLabel("String with email format").fill("ada@example.com");
      await form.getByLabel("String with uri format").fill("https://example.com/ada");
      await form.getByLabel("String with date format").fill("1815-12-10");
      await form.getByLabel("Integer").fill("7");
      await form.getByRole("checkbox", { name: "Piano" }).check();
      await form.getByRole("radio", { name: "Wonder Woman" }).check();
    });
    const text = await result(panel.call(server, "trigger-elicitation-request"));
    const [, raw = ""] = text.split("Raw result: ");
    assert.deepEqual(JSON.parse(raw), {
      action: "accept",
      content: {
        name: "Ada",
        check: true,
        firstLine: "It was a dark and stormy night.",
        email: "ada@example.com",
        homepage: "https://example.com/ada",
        birthdate: "1815-12-10",
        integer: 7,
        number: 3.14,
        untitledSingleSelectEnum: "Monica",
        untitledMultipleSelectEnum: ["Guitar", "Piano"],
        titledSingleSelectEnum: "hero-3",
        titledMultipleSelectEnum: ["fish-1"],
        legacyTitledEnum: "pet-1",
      },
    });
  },
  async page(panel, server) {
    await runTool(panel, server, "trigger-url-elicitation", { url: "https://example.com/a?b=c" });
    const consent = panel.consent(server);
    await consent.getByText("https://example.com/a?b=c").waitFor();
    await consent.getByRole("button", { name: "Decline", exact: true }).click();
    const text = await result(panel.call(server, "trigger-url-elicitation"));
    assert.match(text, /User declined to open the URL/);
  },
  // The tool first requires a page to be visited, and is then called again.
  async "page first"(panel, server) {
    const runner = await begin(panel, server, "trigger-url-elicitation");
    await runner.getByRole("textbox", { name: "url", exact: true }).fill("https://example.com/d");
    await runner.getByRole("checkbox", { name: "errorPath" }).check();
    await start(runner, "Run");
    await visit(panel, server, "https://modelcontextprotocol.io/");
    await panel.consent(server).getByRole("button", { name: "Done", exact: true }).click();
    await visit(panel, server, "https://example.com/d");
    const text = await result(panel.call(server, "trigger-url-elicitation"));
    assert.match(text, /User completed the URL elicitation flow.*"action": "accept"/s);
  },
  async task(panel, server) {
    const runner = await begin(panel, server, "simulate-research-query");
    await runner.getByRole("textbox", { name: "topic" }).fill("python");
    await runner.getByRole("checkbox", { name: "ambiguous" }).check();
    await start(runner, "Run");
    await panel.call(server, "simulate-research-query").getByText("Gathering sources").waitFor();
  },
  async "task asks"(panel, server) {
    await submit(panel, server, async (form) => {
      await form.getByRole("radio", { name: "Python snake species" }).check();
    });
  },
  async "task ends"(panel, server) {
    await panel.toFirstMessage(); // only visible rows are rendered
    const text = await result(panel.call(server, "simulate-research-query"));
    assert.match(text, /^# Research Report: python \(snake\)/);
  },
  async "ask as task"(panel, server) {
    await runTool(panel, server, "trigger-elicitation-request-async");
    await submit(panel, server, async (form) => {
      await form.getByRole("textbox", { name: "Your Name" }).fill("Ada");
      await form.getByLabel("Favorite Color").selectOption("Green");
    });
    const form = await result(panel.call(server, "trigger-elicitation-request-async"));
    assert.match(form, /^\[COMPLETED\].*- Name: Ada\n- Favorite Color: Green/s);
    const tool = "trigger-sampling-request-async";
    await runTool(panel, server, tool, { prompt: "What is sampling?", maxTokens: "5" });
    await approve(panel, server, /What is sampling\?/);
    assert.match(await result(panel.call(server, tool)), /^\[COMPLETED\]/);
  },
  async resource(panel, server) {
    const runner = await panel.useServer(server, "Resources");
    await start(runner, /^features\.md /);
    const uri = "demo://resource/static/document/features.md";
    assert.match(await result(panel.reading(server, uri)), /Everything Server/);
  },
  async template(panel, server) {
    const runner = await panel.useServer(server, "Resources");
    await choose(runner.getByLabel("Template", { exact: true }), "Dynamic Text Resource");
    await runner.getByRole("combobox", { name: "resourceId" }).fill("7");
    await start(runner, "Read");
    const reading = panel.reading(server, "demo://resource/dynamic/text/7");
    assert.match(await result(reading), /^Resource 7: This is a plaintext resource/);
  },
  async prompt(panel, server) {
    const runner = await panel.useServer(server, "Prompts");
    await choose(runner.getByLabel("Prompt", { exact: true }), "args-prompt");
    await runner.getByRole("combobox", { name: "city" }).fill("Vienna");
    await start(runner, "Get Prompt");
    const text = await result(panel.prompt(server, "args-prompt"));
    assert.equal(text, "What's weather in Vienna?");
  },
  async roots(panel, server) {
    await runTool(panel, server, "get-roots-list");
    const text = await result(panel.call(server, "get-roots-list"));
    assert.match(text, /^Current MCP Roots \(1 total\):\n\n1\. workspace\n {3}URI: file:\/\/\//);
  },
};

const filesystemServer: Checks = {
  async lists(panel, server) {
    const name = "List Allowed Directories (list_allowed_directories)";
    await offers(panel, server, undefined, "Tool", [name]);
  },
  // Each task has its own process, and this is its first call.
  async roots(panel, server) {
    const tool = "list_allowed_directories";
    for (let count = 1; count <= 10; count++) {
      await panel.newTask();
      await runTool(panel, server, tool);
      const text = await result(panel.call(server, tool));
      assert.match(text, /^Allowed directories:\n\/.*\/workspace$/, `process ${count}`);
    }
  },
};

const goEverything: Checks = {
  async lists(panel, server) {
    await offers(panel, server, "Tools", "Tool", ["greet", "elicit (form)"]);
    await offers(panel, server, "Resources", "Template", ["Resource template (with Icon)"]);
    await offers(panel, server, "Prompts", "Prompt", ["greet", "greet (with Icons)"]);
  },
  async tool(panel, server) {
    await runTool(panel, server, "greet", { name: "Ada" });
    assert.equal(await result(panel.call(server, "greet")), "Hi Ada");
  },
  async content(panel, server) {
    const tool = "greet (content with ResourceLink)";
    await runTool(panel, server, tool, { name: "Ada" });
    await panel.call(server, tool).getByText("A friendly greeting").waitFor();
  },
  // It asks for a completion of no messages, in no tokens.
  sampling: fails("sample", /messages is missing or empty/),
  async form(panel, server) {
    await runTool(panel, server, "elicit (form)");
    await submit(panel, server, async (form) => {
      await form.getByRole("textbox", { name: "random" }).fill("four");
    });
    assert.equal(await result(panel.call(server, "elicit (form)")), "four");
  },
  async resource(panel, server) {
    const runner = await panel.useServer(server, "Resources");
    await start(runner, /^info .*embedded:info/);
    const text = await result(panel.reading(server, "embedded:info"));
    assert.equal(text, "This is the hello example server.");
  },
  async prompt(panel, server) {
    const runner = await panel.useServer(server, "Prompts");
    await choose(runner.getByLabel("Prompt", { exact: true }), "greet");
    await start(runner, "Get Prompt");
    assert.equal(await result(panel.prompt(server, "greet")), "Say hi to ");
  },
  async page(panel, server) {
    await runTool(panel, server, "elicit (url)");
    const consent = panel.consent(server);
    await consent.getByText(/^http:\/\/localhost:6062\/\?id=\d+$/).waitFor();
    await consent.getByRole("button", { name: "Decline", exact: true }).click();
    // It does not ask what became of it.
    const text = await result(panel.call(server, "elicit (url)"));
    assert.equal(text, "(elicitation pending)");
  },
  async roots(panel, server) {
    await runTool(panel, server, "roots");
    assert.match(await result(panel.call(server, "roots")), /^workspace:file:\/\/\/.*\/workspace$/);
  },
};

/**
 * Over stdio this server accepts the newest version, whose servers send no requests, but its tools send some
 * nevertheless. The first such call fails, and the person calls it again in the earlier version. From then on all tools
 * can ask.
 */
const newestGoEverything: Checks = {
  ...goEverything,
  async roots(panel, server) {
    await runTool(panel, server, "roots");
    const again = panel.repeat(server);
    await again.getByText(/in a way that MCP 2026-07-28 does not have/).waitFor();
    await again.getByRole("button", { name: "Call Again" }).click();
    assert.match(await result(panel.call(server, "roots")), /^workspace:file:\/\/\/.*\/workspace$/);
    await panel.text(/From now on Assent speaks MCP 2025-11-25 with it/).waitFor();
  },
};

const goSSE: Checks = {
  async lists(panel, server) {
    await offers(panel, server, undefined, "Tool", ["greet1"]);
  },
  async tool(panel, server) {
    await runTool(panel, server, "greet1", { name: "Ada" });
    assert.equal(await result(panel.call(server, "greet1")), "Hi Ada");
  },
};

type Tab = "Tools" | "Resources" | "Prompts";

/** Checks that a list of the server is shown, with some required items. */
async function offers(
  panel: Panel,
  server: string,
  tab: Tab | undefined,
  list: string,
  names: readonly string[],
): Promise<void> {
  const runner = await panel.useServer(server, tab);
  const select = runner.getByLabel(list, { exact: true });
  await select.waitFor();
  const options = await select.getByRole("option").all();
  const texts = await Promise.all(options.map((option) => option.textContent()));
  for (const name of names) assert(texts.includes(name), `${name} is missing in ${texts}`);
}

async function runTool(
  panel: Panel,
  server: string,
  tool: string,
  args: Readonly<Record<string, string>> = {},
): Promise<void> {
  const runner = await begin(panel, server, tool);
  for (const [label, value] of Object.entries(args)) {
    await runner.getByRole("textbox", { name: label, exact: true }).fill(value);
  }
  await start(runner, "Run");
}

/** Opens the runner with a tool chosen. */
async function begin(panel: Panel, server: string, tool: string): Promise<Locator> {
  const runner = await panel.useServer(server);
  // A server with tools only has no tabs.
  const tools = runner.getByRole("tab", { name: "Tools" });
  if ((await tools.count()) > 0) await tools.click();
  await choose(runner.getByLabel("Tool", { exact: true }), tool);
  return runner;
}

/** Presses the button that sends the request; the runner closes when it has been sent. */
async function start(runner: Locator, name: RegExp | "Run" | "Read" | "Get Prompt"): Promise<void> {
  await runner.getByRole("button", { name, exact: true }).click();
  await runner.getByRole("button", { name: /^Use a Server/, expanded: false }).waitFor();
}

/** Chooses an item by its name, which is in parentheses after a title. */
async function choose(select: Locator, name: string): Promise<void> {
  // A server that has just been restarted is asked for its list again.
  const some = select.getByRole("option").filter({ hasText: name }).first();
  await some.waitFor({ state: "attached" });
  const options = await select.getByRole("option").all();
  for (const option of options) {
    const text = (await option.textContent()) ?? "";
    if (text !== name && !text.endsWith(`(${name})`)) continue;
    await select.selectOption(await option.getAttribute("value"));
    return;
  }
  assert.fail(`${name} cannot be chosen`);
}

/** Approves a completion that shows the text. */
async function approve(panel: Panel, server: string, shown?: RegExp): Promise<void> {
  const approval = panel.approval(server);
  if (shown !== undefined) await approval.getByText(shown).waitFor();
  await panel.approve(approval, "Approve & Send");
  await panel.settled(/You let .* answer/).waitFor();
  await panel.approve(panel.review(server), "Return to Server");
}

/** Consents to a page, and opens it by the link that every page of the panel has in a browser. */
async function visit(panel: Panel, server: string, url: string): Promise<void> {
  const consent = panel.consent(server);
  await consent.getByText(url).first().waitFor();
  await panel.approve(consent, "Open in Browser");
  const banner = panel.banner(`The MCP server "${server}" asks you to go to this page.`);
  await banner.getByRole("link", { name: url, exact: true }).click();
}

async function submit(
  panel: Panel,
  server: string,
  fill: (form: Locator) => Promise<void>,
): Promise<void> {
  const form = panel.form(server);
  await form.waitFor();
  await fill(form);
  await panel.approve(form, "Submit");
  await panel.settled("You answered: ").waitFor();
}

/** The texts that a call brought, once it has; fails when it ended another way. */
async function result(call: Locator): Promise<string> {
  const ended = call.getByText(/^(done|failed|refused|cancelled|abandoned|lost)\b/).first();
  const words = await ended.textContent();
  const texts = await call.locator("pre").allTextContents();
  assert.match(words ?? "", /^done/, `the call ended as ${words}: ${await call.textContent()}`);
  return texts.join("\n");
}

/** A tool that says it failed, and why. */
function fails(tool: string, why: RegExp): Check {
  const check: Check = async (panel, server) => {
    await runTool(panel, server, tool);
    const call = panel.call(server, tool);
    await call.getByText(/^failed/).waitFor();
    await call.getByText(why).waitFor();
  };
  return Object.assign(check, { verdict: "fails" });
}

function unreachable(value: never): never {
  throw new Error(`unexpected ${value}`);
}
