import type { Page } from "playwright-core";

/** Runs a command by its title, from the command palette. */
export async function runCommand(page: Page, title: string): Promise<void> {
  await page.keyboard.press("F1");
  await choose(page, title, ">");
}

/** Chooses from VS Code's quick input by words that one entry alone has. */
export async function choose(page: Page, label: string, prefix = ""): Promise<void> {
  const quickInput = page.locator(".quick-input-widget");
  // A hover of what lies below covers the entries for as long as the mouse rests on it.
  await page.mouse.move(0, 0);
  await quickInput.locator("input[type=text]").fill(`${prefix}${label}`);
  await quickInput.getByRole("option", { name: label }).first().click();
}

/** Ticks an entry of a quick input that takes several. */
export async function tick(page: Page, label: string): Promise<void> {
  const quickInput = page.locator(".quick-input-widget");
  await quickInput.getByText(label, { exact: true }).click();
  await quickInput.getByText("1 Selected").waitFor();
}
