import assert from "node:assert/strict";
import { look } from "../smart-database/testing/talk.ts";
import type { Panel } from "./panel.ts";
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
    await panel.text(`${deletes} of ${database} was not called.`).waitFor();
    await panel.turnEnds();
    assert.deepEqual(counted(file), { users, trash: 0 });
  });
}

/**
 * The whole story by the keyboard alone: the model, the tools, the server's questions, the rows. The form is
 * checked when it is filled in, and the focus is at the same place after that.
 */
export async function cleanUp(
  panel: Panel,
  file: string,
  lookAtForm: () => Promise<void> = async () => {},
): Promise<void> {
  await step("a conversation carries a deletion through, with the keyboard", async () => {
    await panel.tabTo(panel.message());
    await panel.type(prompt);
    await panel.press("Enter");
    await panel.toolApproval(database).getByText(counts).first().waitFor();
    await panel.pressButton(panel.toolApproval(database), "Allow");
    await panel.toolApproval(database).getByText(deletes).first().waitFor();
    await panel.pressButton(panel.toolApproval(database), "Allow");
    await panel.pressButton(panel.approval(database), "Approve & Send");
    await panel.pressButton(panel.review(database), "Return to Server");
    const form = panel.form(database);
    await panel.tabTo(form.getByRole("checkbox", { name: `Delete ${inactive} users` }));
    await panel.press("Space");
    const reason = form.getByRole("textbox", { name: "Reason" });
    await panel.tabTo(reason);
    await panel.type("the yearly clean-up");
    await lookAtForm();
    await reason.focus();
    await panel.pressButton(form, "Submit");
    await panel.pressButton(panel.approval(database), "Approve & Send");
    await panel.pressButton(panel.review(database), "Return to Server");
    await panel.text(/^Deleted 30 users\./).waitFor();
    await panel.turnEnds();
    assert.deepEqual(counted(file), { users: users - inactive, trash: inactive });
  });
}

/** A turn is stopped while it waits, and its message is said again in other words. */
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
