import type { Locator, Page } from "playwright-core";
import { runCommand } from "./quickInput.ts";

/** In these words the demo model finds a tool. */
export const chatPrompt = "Count slowly";

/** Asks @assent in VS Code's chat, and waits until a question came of it. */
export async function askInChat(
  page: Page,
): Promise<{ readonly chat: Locator; readonly questions: Locator }> {
  await runCommand(page, "Chat: Open Chat");
  const chat = page.locator(".interactive-session");
  const questions = chat.getByRole("button", { name: "Answer in Assent" });
  const send = async (text: string): Promise<void> => {
    await chat.locator(".interactive-input-part .monaco-editor").first().click();
    await page.keyboard.type(text);
    await chat.getByRole("button", { name: /^Send/ }).click();
  };
  await send(`@assent ${chatPrompt}`);
  // VS Code looks for models when a chat first needs one, and refuses a message that comes before it has found any.
  const refusal = chat.getByText("Language model unavailable");
  await questions.first().or(refusal).first().waitFor();
  if (await refusal.isVisible()) {
    await page
      .getByRole("button", { name: /^New Chat/ })
      .first()
      .click();
    await refusal.waitFor({ state: "detached" });
    await send(chatPrompt); // @assent stays in the input
  }
  await chat.getByText("The model wants to run").first().waitFor();
  await questions.first().waitFor();
  return { chat, questions };
}
