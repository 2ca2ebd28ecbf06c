import type { Page } from "playwright-core";

/** Confirms the servers of the workspace, in the dialogs that VS Code shows before they run for the first time. */
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
