import type { AccessMcpResource, Outcome, UseMcpTool } from "@assent/protocol";
import { useId } from "react";
import { askElementId, parkedFocus } from "./focus.ts";
import { OutcomeLine } from "./OutcomeLine.tsx";

export interface ToolUseRecordProps {
  readonly askId: string;
  readonly question: UseMcpTool | AccessMcpResource;
  readonly outcome: Outcome;
}

/** What a model wanted of a server, once that is settled. */
export function ToolUseRecord({ askId, question, outcome }: ToolUseRecordProps) {
  const headingId = useId();
  return (
    <section
      id={askElementId(askId)}
      className="settled"
      aria-labelledby={headingId}
      {...parkedFocus}
    >
      <h2 id={headingId} className="settled-head">
        A model wanted to use{" "}
        <span className="name">
          {question.type === "use_mcp_tool" ? question.tool.name : question.uri}
        </span>{" "}
        <span className="muted">of {question.serverName}</span>
      </h2>
      <OutcomeLine outcome={outcome} yes="Approved" no="Declined" />
    </section>
  );
}
