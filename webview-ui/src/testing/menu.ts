import { fireEvent, screen } from "@testing-library/react";
import type { UserEvent } from "@testing-library/user-event";

/** Chooses an entry of a split button's menu, if both are enabled. */
export function chooseWay(menu: string, way: string): void {
  const button = screen.getByRole("button", { name: menu });
  if (button.getAttribute("aria-expanded") !== "true") fireEvent.click(button);
  const entry = screen.queryByRole("menuitem", { name: way });
  if (entry !== null) fireEvent.click(entry);
}

export const dismiss = () => chooseWay("More Ways to Decline", "Dismiss without an answer");

export const declineAll = () => chooseWay("More Ways to Decline", "Decline and stop asking");

/** Chooses from the menu of the panel's head. */
export async function chooseInHead(...where: Parameters<typeof inHead>): Promise<void> {
  const [user] = where;
  await user.click(await inHead(...where));
}

/** Finds an entry of the menu of the panel's head, after opening the menu. */
export async function inHead(
  user: UserEvent,
  name: string | RegExp,
  menu: string | RegExp = "More Actions",
): Promise<HTMLElement> {
  const button = await screen.findByRole("button", { name: menu });
  if (button.getAttribute("aria-expanded") !== "true") await user.click(button);
  return await screen.findByRole("menuitem", { name });
}
