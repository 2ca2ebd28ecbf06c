import type { Ask } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useContext } from "react";
import { SettingsContext } from "../SettingsContext.ts";
import { Disclosure } from "../ui/Disclosure.tsx";
import { FlowStepper } from "./FlowStepper.tsx";
import { MermaidBlock } from "./MermaidBlock.tsx";
import { flowOf, placeOf } from "./samplingFlow.ts";

export interface SamplingFlowProps {
  readonly ask: Ask;
}

/** Shows in a line where a sampling request is, for as long as it runs. */
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

/** The same as a picture, for whoever opens it. */
export function FlowDiagram({ ask: { question, outcome }, keep }: FlowDiagramProps) {
  const { samplingDiagram } = useContext(SettingsContext);
  const place = placeOf(question, outcome);
  // A review is the same request's, which has its picture where it was asked for.
  if (!samplingDiagram || place === undefined || question.type !== "mcp_sampling") return null;
  const { code, at, words } = flowOf(place, question, outcome?.reason === "granted");
  return (
    <div className="sampling-flow">
      <Disclosure keep={`${keep}:flow`} summary={l10n.t("Show diagram")}>
        <MermaidBlock code={code} highlightNodes={[at]} animating description={words} />
      </Disclosure>
    </div>
  );
}
