import type { Panel } from "./panel.ts";
import { step } from "./step.ts";
import { server } from "./story.ts";

/** A look at the page of a server that runs, which is stopped and started there; the page stays open. */
export async function lookAtServer(panel: Panel): Promise<void> {
  await step("a server's page shows how it is, and stops and starts it", async () => {
    await panel.listedServer(server).click();
    const page = panel.serverPage(server);
    await page
      .getByText(/Connected since .*, process \d+/)
      .first()
      .waitFor();
    await page
      .getByRole("log")
      .filter({ hasText: /started as process \d+/ })
      .waitFor();
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.getByRole("button", { name: "Restart", exact: true }).waitFor();
    await page.getByText(/^Tools/).click();
    await page.getByText("ask_user_preferences").first().waitFor();
  });
}
