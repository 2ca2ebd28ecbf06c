import assert from "node:assert/strict";
import type { FrameLocator, Locator } from "playwright-core";
import { eventually } from "./eventually.ts";
import { armed, exampleApp, innerFrame } from "./exampleApps.ts";
import type { ExtensionWindow } from "./extensionWindow.ts";
import { photograph, wearTheme } from "./screenshots.ts";
import { step } from "./step.ts";

const time = "basic-vanillajs";
const budget = "budget-allocator";
const cohorts = "cohort-heatmap";

/** The themes for apps that look alike in each. */
const themes = ["dark", "light", "hc"] as const;

/** The servers of the story. */
export const appServers = Object.fromEntries(
  [time, budget, cohorts].map((name) => [name, exampleApp(name)]),
);

/** Three apps of ext-apps, which their authors wrote without Assent in mind. */
export async function tellApps(window: ExtensionWindow): Promise<void> {
  const { page, panel, newTask } = window;
  const open = async (server: string, tool: string): Promise<FrameLocator> => {
    await newTask();
    await panel.startTool(server, tool, {}, "Tools");
    return innerFrame(panel, server, tool);
  };
  await step("an app is shown with its charts", async () => {
    const app = await open(budget, "get-budget-data");
    await app.getByText("Marketing", { exact: true }).first().waitFor();
    await photograph(page, "app-budget", [300, 600], { themes });
  });
  await step("an app shows what it may call for", async () => {
    const app = await open(cohorts, "get-cohort-data");
    const approval = panel.appCall(cohorts);
    await panel.approve(approval, "Allow");
    await approval.waitFor({ state: "detached" });
    await app
      .getByText(/^100%?$/)
      .first()
      .waitFor();
    await photograph(page, "app-cohorts", [300, 600], { themes });
  });
  const app = await open(time, "get-time");
  await step("an app that follows the theme can be read in each", async () => {
    const notice = app.getByText("Watch activity in the DevTools console!");
    await notice.waitFor();
    // Each theme has another ground than the one before it.
    await wearTheme(page, "hc-light");
    let before = await colorsOf(notice);
    await photograph(page, "app-time", [300, 600], {
      look: async (theme) => {
        before = await eventually(`the colours of ${theme}`, async () => {
          const now = await colorsOf(notice);
          return now.ground === before.ground ? undefined : now;
        });
        assert(contrast(before) >= 4.5, `${theme}: ${before.text} on ${before.ground} can be read`);
      },
    });
  });
  /** Moves the focus into the app with the keyboard, as a person does. */
  const tabInto = async (control: Locator, key: "Tab" | "Shift+Tab"): Promise<void> => {
    for (let presses = 0; presses < 80; presses++) {
      if (await control.evaluate((element) => element.matches(":focus"))) return;
      await page.keyboard.press(key);
    }
    assert.fail(`${key} does not lead to ${control}`);
  };
  const code = app.locator("code");
  /** Allows the call that the app wants, which tells another time. */
  const allow = async (before: string | null): Promise<void> => {
    const approval = panel.appCall(time);
    await approval.waitFor();
    assert.equal(await code.textContent(), before, "nothing ran before the person agreed");
    await panel.approve(approval, "Allow");
    await code.and(app.locator(`code:not(:text-is(${JSON.stringify(before)}))`)).waitFor();
  };
  await step("an app calls a tool once the person allows it", async () => {
    await armed(panel, time, "get-time");
    const before = await code.textContent();
    await app.getByRole("button", { name: "Get Server Time" }).click();
    await allow(before);
  });
  await step("the focus is in the app again when its wish is answered", async () => {
    await tabInto(app.getByRole("button", { name: "Open Link" }), "Shift+Tab");
    await page.keyboard.press("Enter");
    await panel.pressButton(panel.wish(time), "Dismiss");
    await panel.wish(time).waitFor({ state: "detached" });
    await eventually("an app with the focus", () =>
      app.locator("body").evaluate(() => document.hasFocus() || undefined),
    );
    await panel.tabTo(panel.message()); // the Tab key leads out again
  });
  await step("an app that is open goes on with the next sidecar, with the focus", async () => {
    const message = app.getByRole("textbox").first();
    // Playwright's pointer tells the panel nothing of a press in a frame, so the panel would take the focus back.
    await tabInto(message, "Shift+Tab");
    await page.keyboard.press("Control+A");
    await page.keyboard.type("Two ");
    await window.killSidecar();
    await page.keyboard.type("seats");
    assert.equal(await message.inputValue(), "Two seats");
    const before = await code.textContent();
    await tabInto(app.getByRole("button", { name: "Get Server Time" }), "Shift+Tab");
    await page.keyboard.press("Enter");
    await allow(before);
    assert.equal(await message.inputValue(), "Two seats");
  });
}

/** The colours of a text and its ground, as CSS has them. */
interface Colors {
  readonly text: string;
  readonly ground: string;
}

async function colorsOf(text: Locator): Promise<Colors> {
  return await text.evaluate((element) => {
    const { color, backgroundColor } = getComputedStyle(element);
    return { text: color, ground: backgroundColor };
  });
}

/** The contrast of colours, as WCAG computes it. */
function contrast({ text, ground }: Colors): number {
  const [dark = 0, light = 0] = [luminance(text), luminance(ground)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/** The luminance of rgb(255, 0, 0), or of color(srgb 1 0 0). */
function luminance(color: string): number {
  const most = color.startsWith("rgb") ? 255 : 1;
  const [r = 0, g = 0, b = 0] = (color.match(/[\d.]+/g) ?? []).map((part) => {
    const share = Number(part) / most;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
