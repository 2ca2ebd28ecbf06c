import * as l10n from "@vscode/l10n";
import { Icon } from "../ui/Icon.tsx";
import type { Place } from "./samplingFlow.ts";

export interface FlowStepperProps {
  readonly place: Place;
  /** Whether a grant approved the request without asking the person. */
  readonly byGrant: boolean;
  /** Says in a sentence who has the request now. */
  readonly words: string;
}

/** The steps of a sampling request in one line. The current one is marked. */
export function FlowStepper({ place, byGrant, words }: FlowStepperProps) {
  const at = stepOf(place);
  const steps = [
    l10n.t("Server"),
    byGrant ? l10n.t("Grant") : l10n.t("You"),
    l10n.t("Model"),
    l10n.t("You"),
    l10n.t("Server"),
  ];
  return (
    <div className="flow-stepper">
      <p className="visually-hidden">{words}</p>
      <ol aria-label={l10n.t("Progress of the request")} title={words}>
        {steps.map((step, index) => (
          <li
            // biome-ignore lint/suspicious/noArrayIndexKey: a step has no name but its place.
            key={index}
            className={index < at ? "past" : index === at ? "now" : "to-come"}
            aria-current={index === at ? "step" : undefined}
          >
            {index > 0 && <Icon name="arrow-small-right" />}
            <span>{step}</span>
          </li>
        ))}
      </ol>
    </div>
  );
}

function stepOf(place: Place): number {
  switch (place) {
    case "approval":
      return 1;
    case "asked":
    case "answering":
      return 2;
    case "review":
      return 3;
  }
}
