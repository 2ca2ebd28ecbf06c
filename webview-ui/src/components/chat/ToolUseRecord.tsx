import type { AccessMcpResource, Outcome, UseMcpTool } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { filled } from "../../l10n.ts";
import { visible } from "../ui/visible.ts";
import { OutcomeLine } from "./OutcomeLine.tsx";
import { SettledAsk } from "./SettledAsk.tsx";

export interface ToolUseRecordProps {
  readonly askId: string;
  readonly question: UseMcpTool | AccessMcpResource;
  readonly outcome: Outcome;
}

/** What a model wanted of a server, once that is settled. */
export function ToolUseRecord({ askId, question, outcome }: ToolUseRecordProps) {
  const subject = question.type === "use_mcp_tool" ? question.tool.name : question.uri;
  return (
    <SettledAsk
      askId={askId}
      head={filled(
        l10n.t("A model wanted to use {0} of {1}"),
        <span className="name">{visible(subject)}</span>,
        <span className="muted">{question.serverName}</span>,
      )}
    >
      <OutcomeLine {...{ outcome, subject }} yes={l10n.t("Approved")} no={l10n.t("Declined")} />
    </SettledAsk>
  );
}
