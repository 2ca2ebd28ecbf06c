import type { Page } from "playwright-core";

/** Confirms each server of the workspace in the dialog that VS Code shows before its first run. */
export async function confirmServers(page: Page): Promise<void> {
  const dialog = page.locator(".monaco-dialog-box", { hasText: /Run (it|them)\?/ });
  // Another dialog may follow at once, so none is waited for to go.
  await page.addLocatorHandler(
    dialog,
    async () => {
      await dialog.getByRole("button", { name: /^Run (It|Them)$/ }).click();
    },
    { noWaitAfter: true },
  );
}
