import type { Ask } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { Disclosure } from "../ui/Disclosure.tsx";
import { FlowStepper } from "./FlowStepper.tsx";
import { MermaidBlock } from "./MermaidBlock.tsx";
import { flowOf, placeOf } from "./samplingFlow.ts";

export interface SamplingFlowProps {
  readonly ask: Ask;
}

/** Shows in one line who has a sampling request while it runs. */
export function SamplingFlow({ ask }: SamplingFlowProps) {
  const { question, outcome } = ask;
  const place = placeOf(question, outcome);
  if (place === undefined) return null;
  const byGrant = outcome?.reason === "granted";
  return <FlowStepper {...{ place, byGrant }} words={flowOf(place, question, byGrant).words} />;
}

export interface FlowDiagramProps extends SamplingFlowProps {
  /** Names the row in the view's state; unique in the panel. */
  readonly keep: string;
}

/** Shows the same as a diagram, which is closed at first. */
export function FlowDiagram({ ask: { question, outcome }, keep }: FlowDiagramProps) {
  const place = placeOf(question, outcome);
  // A review has no diagram of its own, because its request has one.
  if (place === undefined || question.type !== "mcp_sampling") return null;
  const { code, at, words } = flowOf(place, question, outcome?.reason === "granted");
  return (
    <div className="sampling-flow">
      <Disclosure keep={`${keep}:flow`} summary={l10n.t("Show diagram")}>
        <MermaidBlock code={code} highlightNodes={[at]} animating description={words} />
      </Disclosure>
    </div>
  );
}
