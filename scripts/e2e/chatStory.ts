import assert from "node:assert/strict";
import type { Panel } from "./panel.ts";
import { look } from "./smartDatabaseFile.ts";
import { step } from "./step.ts";

const database = "smart-database";
const prompt = "Clean up the users table: remove all inactive accounts";
const counts = "count_inactive_users";
const deletes = "delete_inactive_users";

/** What the database begins with, and who of them is inactive. */
const users = 200;
const inactive = 30;

/** Begins with the prompt that the panel suggests, where its host knows one. */
export const bySuggestion = (panel: Panel): Promise<void> => panel.button(prompt).click();

/** Begins by typing. */
export async function byTyping(panel: Panel): Promise<void> {
  await panel.message().fill(prompt);
  await panel.press("Enter");
}

/** A person declines what a model wants of a tool: nothing is deleted, and the model says so. */
export async function declineCleanUp(
  panel: Panel,
  file: string,
  begin: (panel: Panel) => Promise<void>,
): Promise<void> {
  await step("a conversation: a tool is approved, the next one declined, no row gone", async () => {
    await begin(panel);
    await panel.toolApproval(database).getByText(counts).first().waitFor();
    await panel.approve(panel.toolApproval(database), "Allow");
    await panel.toolApproval(database).getByText(deletes).first().waitFor();
    await panel.approve(panel.toolApproval(database), "Decline");
    await panel.settled("You declined: Delete inactive users").waitFor();
    await panel.turnEnds();
    assert.deepEqual(counted(file), { users, trash: 0 });
  });
}

/** The moments of the whole story. */
export type Moment =
  | "typing"
  | "sent"
  | "tool"
  | "request"
  | "review"
  | "form"
  | "ticked"
  | "filled"
  | "done";

/** The most keys that the whole story may need, without those of texts. */
const mostPresses = 30;

/**
 * The whole story by the keyboard alone: the model, the tools, the server's questions, the rows. `look` sees each moment;
 * the focus comes back to the form after that.
 */
export async function cleanUp(
  panel: Panel,
  file: string,
  look: (moment: Moment) => Promise<void> = async () => {},
): Promise<void> {
  await step("a conversation carries a deletion through, with few keys", async () => {
    const before = panel.presses;
    const tool = panel.toolApproval(database);
    const type = async (text: string): Promise<void> => {
      for (const word of text.split(/(?<= )/)) {
        await panel.type(word);
        await look("typing");
      }
    };
    await panel.tabTo(panel.message());
    await type(prompt);
    await panel.press("Enter");
    await look("sent");
    await panel.accept(tool.filter({ hasText: counts }), "Allow");
    await tool.filter({ hasText: deletes }).waitFor();
    await look("tool");
    await panel.accept(tool.filter({ hasText: deletes }), "Allow");
    await panel.approval(database).waitFor();
    await look("request");
    await panel.accept(panel.approval(database), "Approve & Send");
    await panel.review(database).waitFor();
    await look("review");
    await panel.accept(panel.review(database), "Return to Server");
    const form = panel.form(database);
    await panel.focused(form).waitFor();
    await look("form");
    await panel.tabTo(form.getByRole("checkbox", { name: `Delete ${inactive} users` }));
    await panel.press("Space");
    await look("ticked");
    const reason = form.getByRole("textbox", { name: "Reason" });
    await panel.tabTo(reason);
    await type("the yearly clean-up");
    await look("filled");
    await reason.focus();
    await panel.accept(form, "Submit");
    await panel.accept(panel.approval(database), "Approve & Send");
    await panel.accept(panel.review(database), "Return to Server");
    await panel.text(/^Deleted 30 users\./).waitFor();
    await panel.turnEnds();
    await look("done");
    assert.deepEqual(counted(file), { users: users - inactive, trash: inactive });
    const presses = panel.presses - before;
    assert(presses <= mostPresses, `${presses} keys were pressed, besides the texts`);
    console.log(`       ${presses} keys besides the texts`);
  });
}

/** A turn is stopped while it waits, and its message is edited and sent again. */
export async function stopAndResend(panel: Panel): Promise<void> {
  await step("a turn is stopped, and its message edited and sent again", async () => {
    await byTyping(panel);
    await panel.toolApproval(database).waitFor();
    await panel.message().fill("And then?");
    await panel.button("Queue").click();
    await panel.button("Remove from the Queue").click();
    await panel.button("Remove from the Queue").waitFor({ state: "detached" });
    assert(await panel.toolApproval(database).isVisible(), "a queued message answers no question");
    await panel.button("Stop").click();
    await panel.turnEnds();
    await panel.toolApproval(database).waitFor({ state: "detached" });
    await panel.text("You stopped it.").first().waitFor();
    await panel.button("Edit and Resend").last().click();
    await panel.editedMessage().fill("What is sampling?");
    await panel.press("Enter");
    await panel.text(/^Sampling lets an MCP server/).waitFor();
    await panel.turnEnds();
    await panel.text(/^\d+ replaced messages$/).click();
    await panel.text(prompt).last().waitFor();
  });
}

function counted(file: string): { readonly users: number; readonly trash: number } {
  const { users, trash } = look(file);
  return { users, trash };
}
