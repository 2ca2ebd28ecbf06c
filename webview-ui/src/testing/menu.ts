import { fireEvent, screen } from "@testing-library/react";

/** Chooses from the menu of a split button, as far as both can be pressed. */
export function chooseWay(menu: string, way: string): void {
  const button = screen.getByRole("button", { name: menu });
  if (button.getAttribute("aria-expanded") !== "true") fireEvent.click(button);
  const entry = screen.queryByRole("menuitem", { name: way });
  if (entry !== null) fireEvent.click(entry);
}

export const dismiss = () => chooseWay("More Ways to Decline", "Dismiss without an answer");

export const declineAll = () => chooseWay("More Ways to Decline", "Decline and stop asking");
