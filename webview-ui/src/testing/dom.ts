/** Returns an element's accessible description. */
export function descriptionOf(element: Element): string {
  return (element.getAttribute("aria-describedby") ?? "")
    .split(" ")
    .filter((id) => id !== "")
    .map((id) => document.getElementById(id)?.textContent ?? `(nothing has the id ${id})`)
    .join(" ");
}

/** Reports whether a control is marked as invalid. */
export function isWrong(element: Element): boolean {
  return element.getAttribute("aria-invalid") === "true";
}

/** Returns the value of a text control. */
export function valueIn(element: Element): string {
  if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) {
    return element.value;
  }
  throw new Error(`${element.tagName} is no text control`);
}
