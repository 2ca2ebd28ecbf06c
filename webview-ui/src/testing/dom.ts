/** What describes an element to who cannot see it, word by word. */
export function descriptionOf(element: Element): string {
  return (element.getAttribute("aria-describedby") ?? "")
    .split(" ")
    .filter((id) => id !== "")
    .map((id) => document.getElementById(id)?.textContent ?? `(nothing has the id ${id})`)
    .join(" ");
}

/** Says whether a control is marked as wrong. */
export function isWrong(element: Element): boolean {
  return element.getAttribute("aria-invalid") === "true";
}

/** What a text control holds. */
export function valueIn(element: Element): string {
  if (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) {
    return element.value;
  }
  throw new Error(`${element.tagName} is no text control`);
}
