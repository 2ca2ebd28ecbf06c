import type { Ask } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useContext } from "react";
import { SettingsContext } from "../SettingsContext.ts";
import { Disclosure } from "../ui/Disclosure.tsx";
import { MermaidBlock } from "./MermaidBlock.tsx";
import { flowOf, placeOf } from "./samplingFlow.ts";

export interface SamplingFlowProps {
  readonly ask: Ask;
  /** Names the row in the view's state; unique in the panel. */
  readonly keep: string;
}

/** Shows where a sampling request is, for as long as it runs and the person wants to see it. */
export function SamplingFlow({ ask: { question, outcome }, keep }: SamplingFlowProps) {
  const { samplingDiagram } = useContext(SettingsContext);
  if (!samplingDiagram || question.type !== "mcp_sampling") return null;
  const place = placeOf(question, outcome);
  if (place === undefined) return null;
  const { code, at, words } = flowOf(place, question, outcome?.reason === "granted");
  return (
    <div className="sampling-flow">
      <Disclosure keep={`${keep}:flow`} summary={l10n.t("Where it is")} initiallyOpen>
        <MermaidBlock code={code} highlightNodes={[at]} animating description={words} />
      </Disclosure>
    </div>
  );
}
