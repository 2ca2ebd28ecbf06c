import type { AccessMcpResource, UseMcpTool } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { shownArguments } from "../../lib/exactJSON.ts";
import { visible } from "../../lib/visible.ts";
import { Verbatim } from "../content/ContentBlocks.tsx";
import { Diff } from "../ui/Diff.tsx";

export interface ToolUseDetailsProps {
  readonly question: UseMcpTool | AccessMcpResource;
  /** What the model was told if the call was not made. */
  readonly told: string | undefined;
  readonly keep: string;
}

/** The details of a model's call, with the person's changes. */
export function ToolUseDetails({ question, told, keep }: ToolUseDetailsProps) {
  return (
    <>
      <p>
        <span className="name">
          {visible(question.type === "use_mcp_tool" ? question.tool.name : question.uri)}
        </span>
      </p>
      {question.type === "use_mcp_tool" && <Arguments {...{ question, keep }} />}
      {told !== undefined && (
        <p className="muted">{l10n.t("The model was told: {0}", visible(told))}</p>
      )}
    </>
  );
}

function Arguments({ question, keep }: { readonly question: UseMcpTool; readonly keep: string }) {
  const written = shownArguments(question.arguments, question.argumentsText);
  if (question.sentArguments === undefined) return <Verbatim text={written} />;
  return (
    <>
      <p className="muted">{l10n.t("You changed the arguments that the model wrote:")}</p>
      <Diff
        keep={`${keep}:arguments`}
        before={written}
        after={shownArguments(question.sentArguments, undefined)}
      />
    </>
  );
}
