import type { Ask } from "@assent/protocol";
import * as l10n from "@vscode/l10n";

export interface PlacedHereProps {
  readonly ask: Ask;
}

/** Says that the person assigned the question to this task, because its server did not say where it belongs. */
export function PlacedHere({ ask: { question } }: PlacedHereProps) {
  const { placedBy } = question;
  if (placedBy === undefined) return null;
  return (
    <p className="placed-here muted">
      {l10n.t("You placed this question here, in {0}.", placedBy)}
    </p>
  );
}
