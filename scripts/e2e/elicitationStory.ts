import assert from "node:assert/strict";
import type { Locator, Page } from "playwright-core";
import { eventually } from "./eventually.ts";
import type { ExtensionWindow } from "./extensionWindow.ts";
import { type Panel, returned } from "./panel.ts";
import { runCommand } from "./quickInput.ts";
import { photograph } from "./screenshots.ts";
import { step } from "./step.ts";
import { goServer as modern, returnAnswer, server } from "./story.ts";

const longForm = "fill_everything";
const preferences = "ask_user_preferences";

/** A server with forms that outlive the sidecar, because an MCP task waits for them. */
const outliving = "test-tasks";

/** The longest form, and what becomes of forms when the person, or the panel, goes away. */
export async function tellElicitation(window: ExtensionWindow): Promise<void> {
  await fillInEverything(window);
  await declineEverything(window);
  await beAskedTooOften(window);
  await runOutOfTime(window);
  await loseSidecar(window);
  await reloadWindow(window);
  await outliveSidecars(window);
}

/** A wrong and a right text for each field, in the order of the form, and the error for the wrong one. */
const texts = [
  { label: "Full name", wrong: "A", says: "At least 2 characters", right: "Ada Lovelace" },
  { label: "Booking code", wrong: "abc-1", says: "Does not match", right: "ABC-1843" },
  { label: "Email", wrong: "ada", says: "Not an email address", right: "ada@example.com" },
  { label: "Website", wrong: "here", says: "Not a full URL", right: "https://example.com/a" },
  { label: "Guests", wrong: "13", says: "At most 12", right: "2" },
  { label: "Budget", wrong: "much", says: "Not a number", right: "99.5" },
] as const;

/** Every type of field, by keyboard: each rule is violated once, reported at its field, and then followed. */
async function fillInEverything({
  page,
  panel,
  newTask,
  hide,
  show,
}: ExtensionWindow): Promise<void> {
  await newTask();
  const form = panel.form(server);
  const type = (words: string) => page.keyboard.type(words);
  await step("who asks is on the card: the file, and what runs", async () => {
    await panel.runTool(server, longForm);
    await panel.tabTo(form.locator("summary", { hasText: "configured in .vscode/mcp.json" }));
    await panel.press("Enter");
    await form.getByText("testservers/elicitation.mjs").waitFor();
    await panel.press("Enter");
  });
  await step("each required field says so, and the first one has the focus", async () => {
    await submit(panel, form);
    for (const label of ["Full name", "Email", "Arrival", "Guests"]) {
      await field(form, label).getByText("Required").waitFor();
    }
    for (const label of ["Room", "Country"])
      await field(form, label).getByText("Choose one").waitFor();
    await field(form, "Extras").getByText("Choose at least 1").waitFor();
    await panel.focused(form.getByLabel("Full name")).waitFor();
  });
  await photograph(page, "long-form-refused", [320, 900]);
  await step("each text is written wrong, which its field says, and then right", async () => {
    for (const { label, wrong, says, right } of texts) {
      const control = form.getByLabel(label);
      await panel.tabTo(control);
      await type(wrong);
      await panel.press("Tab");
      await field(form, label).getByText(says).waitFor();
      assert.equal(await control.getAttribute("aria-invalid"), "true");
      await panel.press("Shift+Tab", "Home", "Shift+End");
      await type(right);
      await field(form, label).getByText(says).waitFor({ state: "detached" });
    }
  });
  await step("dates, ticks and choices are made with the keyboard", async () => {
    await panel.tabTo(form.getByLabel("Full name"), "Shift+Tab");
    await panel.tabTo(form.getByLabel("Notes"));
    await type("two");
    await panel.press("Shift+Enter");
    await type("lines");
    await panel.tabTo(form.getByLabel("Arrival"));
    await type("12102026");
    await panel.tabTo(form.getByLabel("Departure"));
    await type("12122026");
    await panel.press("ArrowRight");
    await type("0930AM");
    await panel.tabTo(form.getByLabel("Breakfast"));
    await panel.press("Space");
    await panel.tabTo(form.getByRole("radio", { name: "Single room" }));
    await panel.press("Space", "ArrowDown");
    await panel.tabTo(form.getByLabel("Country"));
    await type("Ice");
    const extras = field(form, "Extras");
    for (const name of ["bicycle", "parking", "towels"]) {
      await panel.tabTo(extras.getByLabel(name));
      await panel.press("Space");
    }
    await panel.tabTo(form.getByLabel("German"));
    await extras.getByText("Choose at most 2").waitFor();
    await panel.press("Space");
    await panel.tabTo(extras.getByLabel("parking"), "Shift+Tab");
    await panel.press("Space");
  });
  await step("all of it is there when the panel was hidden", async () => {
    await hide();
    await show();
    await form.waitFor();
    assert.equal(await form.getByLabel("Full name").inputValue(), "Ada Lovelace");
    assert.equal(await form.getByLabel("Notes").inputValue(), "two\nlines");
    assert(await field(form, "Extras").getByLabel("towels").isChecked());
  });
  await photograph(page, "long-form", [320, 900]);
  await form.locator(".ask-actions").scrollIntoViewIfNeeded();
  await photograph(page, "long-form-end", [320, 900]);
  await step("the server gets every value as it was meant", async () => {
    await submit(panel, form);
    const text = await returned(panel.call(server, longForm));
    const { action, content } = JSON.parse(text.replace("You said: ", ""));
    assert.equal(action, "accept");
    const { departure, ...rest } = content;
    assert.match(departure, /^2026-12-12T09:30(:00)?(Z|[+-]\d\d:\d\d)$/);
    assert.deepEqual(rest, {
      name: "Ada Lovelace",
      booking: "ABC-1843",
      notes: "two\nlines",
      email: "ada@example.com",
      website: "https://example.com/a",
      arrival: "2026-12-10",
      guests: 2,
      budget: 99.5,
      breakfast: false,
      room: "d",
      country: "is",
      floor: "low",
      extras: ["bicycle", "towels"],
      languages: ["de", "en"],
    });
  });
}

/** A person declines everything from a server at once, and later lets it ask again. */
async function declineEverything({ panel, newTask }: ExtensionWindow): Promise<void> {
  await newTask();
  const declined = async () => {
    assert.match(await returned(panel.call(server, preferences)), /"action": "decline"/);
  };
  await step("everything that a server asks for is declined, without asking", async () => {
    await panel.runTool(server, preferences);
    const form = panel.form(server);
    await isArmed(panel, form);
    await panel.choose(form, "More Ways to Decline", "Decline and stop asking");
    await declined();
    await panel.startTool(server, preferences);
    await panel.calls(server, preferences).nth(1).waitFor();
    await declined();
    assert.equal(await form.count(), 0);
  });
  await step("a server may ask again", async () => {
    await panel.button("Ask Me Again").last().click();
    await panel
      .text(new RegExp(`^You declined everything from ${server}`))
      .waitFor({ state: "detached" });
    await panel.runTool(server, preferences);
    const form = panel.form(server);
    await isArmed(panel, form);
    await form.getByRole("button", { name: "Decline", exact: true }).click();
    await declined();
  });
}

/** A server asks a thousand questions in a second, and the panel stays usable. */
async function beAskedTooOften({ page, panel, newTask }: ExtensionWindow): Promise<void> {
  await newTask();
  await step("a flood of questions is bounded, and gone through with the keyboard", async () => {
    await panel.runTool(server, "ask_often", { Times: "1000" });
    await panel.text("1 of 32").waitFor();
    // All the others were refused: none is left that "stop asking" would decline.
    await panel.call(server, "ask_often").getByText("968 of 1,000").waitFor();
    assert.equal(await panel.form(server).count(), 1);
    await panel.tabTo(panel.button("Next Question"), "Shift+Tab");
    await panel.press("Enter");
    await panel.text("2 of 32").waitFor();
    assert.equal(await panel.form(server).count(), 1);
  });
  await photograph(page, "flood");
  await step(
    "the open questions are declined with the rest, and the server hears which",
    async () => {
      const form = panel.form(server);
      await isArmed(panel, form);
      await panel.choose(form, "More Ways to Decline", "Decline and stop asking");
      // The list stays at its end while the questions are settled.
      await panel.dock().waitFor({ state: "detached" });
      await panel.toFirstMessage();
      const text = await returned(panel.call(server, "ask_often"));
      const { decline, ...refused } = JSON.parse(text);
      assert.equal(decline, 32);
      const [[reason, times] = [], ...others] = Object.entries(refused);
      assert.match(String(reason), /assent\.limits\.maxOpen allows 32/);
      assert.deepEqual([times, others], [968, []]);
      await panel.button("Ask Me Again").last().click();
    },
  );
}

/** A person sets a time limit. A question ends with it, or gets more time on request. */
async function runOutOfTime({ page, panel, newTask }: ExtensionWindow): Promise<void> {
  const form = panel.form(server);
  const timer = form.page().getByRole("timer");
  const over = panel.settled("There was no time left to answer");
  const ask = async () => {
    await newTask();
    await panel.startTool(server, preferences);
  };
  const decline = async (open: Locator) => {
    await open.getByRole("button", { name: "Decline", exact: true, disabled: false }).click();
  };
  // Nothing tells when VS Code has read the changed settings. So the tool is called until its question has the limit.
  await step("an ask ends when the time that was set is over", async () => {
    await setTimeLimit(page, 1);
    await eventually("an ask that ends", async () => {
      await ask();
      const endless = form.filter({ hasNot: timer });
      await over.or(endless).first().waitFor();
      if (await over.isVisible()) return true;
      await decline(endless);
      return undefined;
    });
    assert.match(await returned(panel.call(server, preferences)), /"action": "cancel"/);
  });
  await step("an ask has more time on request", async () => {
    await setTimeLimit(page, 600);
    const minutes = (count: RegExp) =>
      panel.text(new RegExp(`^${count.source} min .*left to answer$`));
    await eventually("an ask with ten minutes", async () => {
      await ask();
      await over.or(minutes(/\d/)).first().waitFor();
      return (await over.isVisible()) ? undefined : true;
    });
    await panel.button("More Time").click();
    await minutes(/(1\d|20)/).waitFor();
    await decline(form);
    await setTimeLimit(page, null);
  });
}

/** Sets for how many seconds a question waits; null is the default. */
async function setTimeLimit(page: Page, seconds: number | null): Promise<void> {
  await runCommand(page, "Test: Change Settings of the User");
  const input = page.getByPlaceholder("JSON: a value by the name of a setting");
  await input.fill(JSON.stringify({ "assent.limits": seconds && { answerSeconds: seconds } }));
  await input.press("Enter");
  await input.waitFor({ state: "hidden" });
}

/** A form that lost its server lets the person copy the typed texts. */
async function loseSidecar({ panel, newTask, killSidecar }: ExtensionWindow): Promise<void> {
  await newTask();
  await step("typed texts can be copied after the sidecar was killed", async () => {
    await panel.runTool(server, longForm);
    const form = panel.form(server);
    await form.getByLabel("Full name").fill("Grace Hopper");
    await form.getByLabel("Country").selectOption("Portugal");
    await killSidecar();
    const settled = panel.settled("You typed this, but it was not sent");
    await settled.getByText("Grace Hopper").waitFor();
    await settled.getByText("Portugal").waitFor();
    await settled.getByRole("button", { name: "Copy" }).click();
  });
}

/** A reload of the window ends nothing: the forms of each era go on. */
async function reloadWindow({ page, panel, newTask, show }: ExtensionWindow): Promise<void> {
  await newTask();
  const form = panel.form(outliving);
  await step("half-filled forms are as they were when the window was reloaded", async () => {
    await panel.runTool(server, longForm);
    await panel.form(server).getByLabel("Full name").fill("Mary Somerville");
    await panel.runTool(outliving, "plan_journey", {
      Destination: "Sintra",
      "Milliseconds a step": "100",
    });
    await panel.waiting(`${outliving} asks`).click();
    await form.getByLabel("Day").selectOption("sunday");
    await reload(page);
    await show();
    const chosen = form.getByLabel("Day").locator("option:checked");
    assert.equal(await chosen.textContent(), "sunday");
  });
  await step("both are finished, and their calls return", async () => {
    await panel.approve(form, "Submit");
    // The dock continues with the other one, which is older than the next question.
    const name = panel.form(server).getByLabel("Full name");
    assert.equal(await name.inputValue(), "Mary Somerville");
    await panel.form(server).getByRole("button", { name: "Decline", exact: true }).click();
    assert.match(await returned(panel.call(server, longForm)), /"action":"decline"/);
    await form.getByRole("radio", { name: "Window" }).check();
    await panel.approve(form, "Submit");
    const text = await returned(panel.call(outliving, "plan_journey"));
    assert.match(text, /day: .*"day":"sunday"/);
  });
}

/** A modern server's call continues, with its questions, after a kill of the sidecar and a reload. */
async function outliveSidecars({
  page,
  panel,
  newTask,
  killSidecar,
  show,
}: ExtensionWindow): Promise<void> {
  await newTask();
  const form = panel.form(modern);
  const approval = panel.approval(modern);
  const name = form.getByRole("textbox", { name: "Name" });
  await step("a modern call's questions are open still after a kill, as they were", async () => {
    await panel.runTool(modern, "two_questions", {}, "Tools");
    await panel.waiting(`${modern} wants to ask a model`).waitFor();
    await panel.waiting(`${modern} asks`).click();
    await name.fill("Ada");
    await killSidecar();
    await name.waitFor();
    assert.equal(await name.inputValue(), "Ada");
    await panel.call(modern, "two_questions").getByText("running").waitFor();
  });
  await step("a question that was answered before a reload is not asked again", async () => {
    await panel.approve(form, "Submit");
    await panel.settled("You answered: Ada").waitFor();
    await reload(page);
    await show();
    await panel.settled("You answered: Ada").waitFor();
    await panel.approve(approval, "Approve & Send");
    await returnAnswer(panel, modern);
    assert.match(await returned(panel.call(modern, "two_questions")), /^accept: Ada: .+/);
  });
}

/** Reloads the window with VS Code's own command. */
async function reload(page: Page): Promise<void> {
  const loaded = page.waitForEvent("load");
  await runCommand(page, "Developer: Reload Window");
  await loaded;
}

/** Everything of a field: its control, its description and its error. */
function field(form: Locator, label: string): Locator {
  return form
    .locator(".field")
    .filter({ has: form.page().locator(".field-title", { hasText: label }) });
}

async function submit(panel: Panel, form: Locator): Promise<void> {
  await isArmed(panel, form);
  await panel.tabTo(form.getByRole("button", { name: "Submit" }));
  await panel.press("Enter");
}

/** For a moment after it appeared, a form takes no answer that was meant for something else. */
async function isArmed(panel: Panel, form: Locator): Promise<void> {
  await panel.readTo(form, "Submit");
}
