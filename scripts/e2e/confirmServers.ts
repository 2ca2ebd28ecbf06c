import type { Page } from "playwright-core";

/** Confirms each server of the workspace, in the dialog that VS Code shows before the server runs for the first time. */
export async function confirmServers(page: Page): Promise<void> {
  const dialog = page.locator(".monaco-dialog-box", { hasText: "Do you run it?" });
  await page.addLocatorHandler(dialog, async () => {
    await dialog.getByRole("button", { name: "Run It", exact: true }).click();
  });
}
