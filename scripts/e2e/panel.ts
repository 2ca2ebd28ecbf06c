import assert from "node:assert/strict";
import type { FrameLocator, Keyboard, Locator, Page } from "playwright-core";

/** The panel as a person finds it: by roles, names and words. */
export class Panel {
  readonly #view: Page | FrameLocator;
  readonly #keyboard: Keyboard;
  #presses = 0;

  constructor(view: Page | FrameLocator, keyboard: Keyboard) {
    this.#view = view;
    this.#keyboard = keyboard;
  }

  /** The number of pressed keys, without those of typed texts. */
  get presses(): number {
    return this.#presses;
  }

  text(words: string | RegExp): Locator {
    return this.#view.getByText(words);
  }

  button(name: string): Locator {
    return this.#view.getByRole("button", { name, exact: true });
  }

  /** A line across the panel, by some of its words. */
  banner(words: string): Locator {
    return this.#view.getByRole("status").filter({ hasText: words });
  }

  /** A server's form while it waits. */
  form(server: string): Locator {
    return this.#view.getByRole("region", { name: `${server} asks`, exact: true });
  }

  /** A server's request to the model while it waits. */
  approval(server: string): Locator {
    return this.#view.getByRole("region", { name: `${server} wants to ask a model`, exact: true });
  }

  /** A model's answer that waits for review. */
  review(server: string): Locator {
    return this.#view.getByRole("region", {
      name: `Review the answer for ${server}`,
      exact: true,
    });
  }

  /** A server's page that waits for consent, or to be marked as done. */
  consent(server: string): Locator {
    return this.#view.getByRole("region", {
      name: `${server} wants you to open a page`,
      exact: true,
    });
  }

  /** The question whether to call again after a failure. */
  repeat(server: string): Locator {
    return this.#view.getByRole("region", { name: `Call ${server} again?`, exact: true });
  }

  /** What a model wants of a server while it waits for approval. */
  toolApproval(server: string): Locator {
    return this.#view.getByRole("region", { name: new RegExp(`^Allow .*\\? ${server}$`) });
  }

  /** What an agent's host wants to do while it waits for permission. */
  permission(host: string): Locator {
    return this.#view.getByRole("region", { name: `${host} wants to run a command`, exact: true });
  }

  /** A call that a server's app wants, while it waits for approval. */
  appCall(server: string): Locator {
    return this.#view.getByRole("region", {
      name: new RegExp(`^${server}'s app wants to call .* ${server}$`),
    });
  }

  /** What a server's app wants the person to do. */
  wish(server: string): Locator {
    return this.#view.getByRole("region", { name: `${server}'s app asks`, exact: true });
  }

  /** The line of an open question in the conversation, by who asks. */
  waiting(who: string): Locator {
    return this.#view.locator(".waiting-line", { hasText: new RegExp(`${who}$`) });
  }

  /** The dock, which shows the current question of all that are open. */
  dock(): Locator {
    return this.#view.getByRole("region", { name: "Waiting for you", exact: true });
  }

  /** Chooses from the menu beside a button of a card. */
  async choose(card: Locator, menu: string, entry: string): Promise<void> {
    // For half a second after the card appeared, the entry is disabled.
    await card.getByRole("button", { name: menu, exact: true }).click();
    await card.getByRole("menuitem", { name: entry, exact: true, disabled: false }).click();
  }

  /** Chooses from the menu of the panel's head. */
  async chooseInHead(entry: string): Promise<void> {
    await this.button("More Actions").click();
    await this.#view.getByRole("menuitem", { name: entry, exact: true }).click();
  }

  /** A page in place of the task, by its heading, once it has read its content. */
  shownPage(heading: string): Locator {
    return this.#view
      .locator(".page[aria-busy=false]")
      .filter({ has: this.#view.getByRole("heading", { name: heading, level: 2, exact: true }) });
  }

  /** Goes back to the task, from a page or the page of a server that its list led to. */
  async leavePages(): Promise<void> {
    const page = this.#view.locator(".page");
    while (await page.isVisible()) await this.button("Back (Escape)").click();
  }

  /** Opens the diagram of a request, which is closed at first. */
  async showDiagram(): Promise<void> {
    const details = this.#view.locator(
      ".docked:not([hidden]) .ask-details > :not([open]) > summary",
    );
    if (await details.isVisible()) await details.click();
    const summary = this.#view.getByText("Show diagram").last();
    const isOpen = await summary.evaluate((element) => element.closest("details")?.open);
    if (!isOpen) await summary.click();
  }

  /** Where the person writes to the model. */
  message(): Locator {
    return this.#view.getByRole("textbox", { name: "Message", exact: true });
  }

  /** The text box in which they edit a message. */
  editedMessage(): Locator {
    return this.#view.getByRole("textbox", { name: "Edit your message" });
  }

  /** Something that goes along with the message, by its name. */
  attached(name: string): Locator {
    return this.#view
      .getByRole("list", { name: "Attached" })
      .getByRole("listitem")
      .filter({ hasText: name });
  }

  /** Waits until the model has no more to say. */
  async turnEnds(): Promise<void> {
    await this.button("Stop").waitFor({ state: "detached" });
    await this.#view.locator("[aria-busy=true].said").waitFor({ state: "detached" });
  }

  /** Reads a card to its end, as its first button wants it, until that button has its name. */
  async readTo(card: Locator, name: string, readOn = () => pressReadOn(card)) {
    const button = (name: string) =>
      card.getByRole("button", { name, exact: true, disabled: false });
    for (;;) {
      await button(name).or(button("Read on")).first().waitFor();
      if (await button(name).isVisible()) return;
      await readOn();
      await drawn(card);
    }
  }

  /** Presses a button of a card once the card takes answers. */
  async approve(card: Locator, name: string): Promise<void> {
    await this.readTo(card, name);
    await card.getByRole("button", { name, exact: true, disabled: false }).click();
  }

  /** The same with the keyboard alone. */
  async pressButton(card: Locator, name: string, key: "Tab" | "Shift+Tab" = "Tab"): Promise<void> {
    const button = card.getByRole("button", { name, exact: true, disabled: false });
    await button.waitFor();
    await this.tabTo(button, key);
    await this.press("Enter");
  }

  /** Accepts with the keys of the dock, once the card has the focus and takes answers. */
  async accept(card: Locator, name: string): Promise<void> {
    await card.and(this.#view.locator(":focus, :focus-within")).waitFor();
    await this.readTo(card, name, () => this.press("Control+Enter"));
    await this.press("Control+Enter");
    await card.waitFor({ state: "detached" });
  }

  /** Types a text into the focused element. */
  async type(text: string): Promise<void> {
    await this.#keyboard.type(text);
  }

  /** A page that a server sends the person to, by its message, while it waits. */
  page(server: string, message: string): Locator {
    const name = `${server} wants you to open a page`;
    return this.#view.getByRole("region", { name, exact: true }).filter({ hasText: message });
  }

  /** The questions of all conversations that wait, as the inbox lists them. */
  openAsks(): Locator {
    return this.#view
      .getByRole("region", { name: "Open questions", exact: true })
      .getByRole("listitem")
      .locator("> button");
  }

  /** A server's form that no conversation has, in the inbox. Its name begins with the question. */
  unplaced(server: string): Locator {
    return this.#view.getByRole("region", { name: new RegExp(`\\S ${server} asks$`) });
  }

  /** The list of the MCP tasks of all conversations. */
  mcpTasks(): Locator {
    return this.#view.getByRole("region", { name: "MCP tasks", exact: true });
  }

  /** The list of what answers in the person's name. */
  policy(): Locator {
    return this.#view.getByRole("region", { name: "Automatic Answers", exact: true });
  }

  /** The list of the servers. */
  servers(): Locator {
    return this.#view.getByRole("region", { name: "Servers", exact: true });
  }

  /** A server in the list of the servers. */
  listedServer(server: string): Locator {
    return this.servers().getByRole("button", { name: new RegExp(`^${server}`) });
  }

  /** The page of a server. */
  serverPage(server: string): Locator {
    return this.#view.getByRole("region", { name: server, exact: true });
  }

  /** The newest question that was settled with these words in its line, and what belongs to it. */
  settled(words: string | RegExp): Locator {
    return this.#view.getByRole("listitem").filter({ hasText: words }).last();
  }

  /** The diagram of a request, by its description and its highlighted participant. */
  picture(words: RegExp, highlighted: string): Locator {
    const mark = `data-id="${highlighted}" class="mermaid-node-highlighted"`;
    return this.#view
      .getByRole("img", { name: words })
      .and(this.#view.locator(`[src*="${encodeURIComponent(mark)}"]`));
  }

  /** The newest call of a tool. */
  call(server: string, tool: string): Locator {
    return this.calls(server, tool).last();
  }

  /** The calls of a tool, the newest last. A row has the tool's title, if there is one, and its name as a tooltip. */
  calls(server: string, tool: string): Locator {
    const titled = this.#view
      .getByRole("article", { name: new RegExp(`\\S of ${server}$`) })
      .and(this.#view.locator(`article:has(h2 [title="${tool}"])`));
    return this.#view
      .getByRole("article", { name: `${tool} of ${server}`, exact: true })
      .or(titled);
  }

  /** The newest reading of a resource. */
  reading(server: string, uri: string): Locator {
    return this.#view.getByRole("article", { name: `${uri} resource of ${server}` }).last();
  }

  /** The newest prompt that was filled in. */
  prompt(server: string, prompt: string): Locator {
    return this.#view.getByRole("article", { name: `${prompt} prompt of ${server}` }).last();
  }

  /** A control or a row when it has the focus. */
  focused(control: Locator): Locator {
    return control.and(this.#view.locator(":focus"));
  }

  /** Makes a task, by the panel's own button or another way, and waits until it is the open one. */
  async newTask(begin = () => this.button("New Task").click()): Promise<void> {
    await begin();
    await this.#view.getByRole("button", { name: "New task", exact: true }).waitFor();
  }

  /** Opens a task by its title, from the list of all. */
  async openTask(title: string): Promise<void> {
    const name = new RegExp(`^${title}`);
    const choice = this.#view.getByRole("main").getByRole("button", { name });
    const open = this.#view.locator(".task-title");
    await choice.or(open).first().waitFor();
    if (!(await choice.isVisible())) {
      await open.click();
      await this.#view.getByRole("option", { name }).click();
    } else await choice.click();
    await this.button(title).waitFor();
  }

  /** Gives the open task a title. */
  async rename(title: string): Promise<void> {
    await this.chooseInHead("Rename Task");
    await this.#view.getByRole("textbox", { name: /^New title of / }).fill(title);
    await this.press("Enter");
    await this.button(title).waitFor();
  }

  /** Opens the runner with a server chosen, and a tab if the server has several. */
  async useServer(server: string, tab?: "Tools" | "Resources" | "Prompts"): Promise<Locator> {
    const runner = this.#view.getByRole("region", { name: "Use a server" });
    const toggle = runner.getByRole("button", { name: /^Use a Server/ });
    if ((await toggle.getAttribute("aria-expanded")) === "false") await toggle.click();
    await runner.getByLabel("Server", { exact: true }).selectOption(server);
    if (tab !== undefined) await runner.getByRole("tab", { name: tab }).click();
    return runner;
  }

  /** Runs a tool with the runner, and sees it at work. A busy machine may show an MCP task first when it asks. */
  async runTool(...what: Parameters<Panel["startTool"]>): Promise<void> {
    await this.startTool(...what);
    const [server, tool] = what;
    await this.call(server, tool)
      .getByText(/^(running|working|waiting for input)/)
      .waitFor();
  }

  /** Starts a tool with the runner, which may have ended already. */
  async startTool(
    server: string,
    tool: string,
    args: Readonly<Record<string, string>> = {},
    tab?: "Tools",
  ): Promise<void> {
    const runner = await this.useServer(server, tab);
    // A tool's title may stand before its name.
    const option = runner.getByRole("option", { name: new RegExp(`(^|\\()${tool}\\)?$`) });
    // A dialog may ask whether the server may run. waitFor lets the handler of confirmServers answer it; getAttribute does not.
    await option.waitFor({ state: "attached" });
    const index = (await option.getAttribute("value")) ?? assert.fail(`${tool} cannot be chosen`);
    await runner.getByLabel("Tool", { exact: true }).selectOption(index);
    for (const [label, value] of Object.entries(args)) {
      // A star may follow the label.
      const control = runner.getByLabel(new RegExp(`^${label}`));
      const isChoice = (await control.evaluate(({ tagName }) => tagName)) === "SELECT";
      await (isChoice ? control.selectOption({ label: value }) : control.fill(value));
    }
    await runner.getByRole("button", { name: "Run", exact: true }).click();
    // The call may be shown before the answer to its start, which folds the runner and moves the focus.
    const unfolded = runner.getByRole("button", { name: /^Use a Server/, expanded: true });
    await unfolded.waitFor({ state: "detached" });
  }

  /** Moves the focus with the Tab key, or Shift+Tab, without a mouse. */
  async tabTo(control: Locator, key: "Tab" | "Shift+Tab" = "Tab"): Promise<void> {
    for (let presses = 0; presses < 80; presses++) {
      if (await hasFocus(control)) return;
      await this.press(key);
    }
    assert.fail(`the Tab key does not lead to ${control}`);
  }

  /** Scrolls to the beginning of the conversation. */
  async toFirstMessage(): Promise<void> {
    await this.#view.getByRole("region", { name: "Conversation", exact: true }).press("Home");
  }

  async press(...keys: readonly string[]): Promise<void> {
    for (const key of keys) {
      this.#presses++;
      await this.#keyboard.press(key);
    }
  }
}

/** Presses Read on, if the button still has this name: the part that it scrolled before may be in view by now. */
async function pressReadOn(card: Locator): Promise<void> {
  await card.evaluate((element) => {
    const buttons = [...element.querySelectorAll("button")];
    buttons.find((button) => button.textContent?.startsWith("Read on"))?.click();
  });
}

/** Waits for three frames: after a scroll, the page needs two to learn which parts are in view, and one to redraw. */
async function drawn(card: Locator): Promise<void> {
  await card.evaluate(async () => {
    for (let frame = 0; frame < 3; frame++) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
  });
}

/** The text that a call returned, once it has; or the tool's own complaint, where it failed. */
export async function returned(call: Locator, end: "done" | "failed" = "done"): Promise<string> {
  await call.getByText(new RegExp(`^${end}`)).waitFor();
  return (await call.locator("pre").textContent()) ?? "";
}

async function hasFocus(control: Locator): Promise<boolean> {
  return await control.evaluate((element) => element.ownerDocument.activeElement === element);
}
