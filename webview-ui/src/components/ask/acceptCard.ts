/** Presses the first button of the card in an element. If it is disabled, the focus moves to the reason. */
export function acceptCard(around: HTMLElement | null | undefined): void {
  const button = around?.querySelector<HTMLButtonElement>(".ask-actions .primary");
  if (!around || !button) return;
  if (!button.disabled) {
    button.click();
    return;
  }
  const why = around.querySelector<HTMLElement>('[aria-invalid="true"], .secrets, [role="alert"]');
  why?.focus({ preventScroll: true });
  why?.scrollIntoView({ block: "nearest" });
}
