import type { AccessMcpResource, Remember, UseMcpTool } from "@assent/protocol";
import { Refusal } from "../ui/Refusal.tsx";
import { visible } from "../ui/visible.ts";
import { json } from "../ui/words.ts";
import { AskCard } from "./AskCard.tsx";
import { Verbatim } from "./ContentBlocks.tsx";
import { useArmed } from "./useArmed.ts";

export interface ToolApprovalProps {
  readonly askId: string;
  readonly question: UseMcpTool | AccessMcpResource;
  /** An answer is under way. */
  readonly busy: boolean;
  /** Why the last answer was refused. */
  readonly refusal: string | undefined;
  /** The person lets the model do it, and perhaps from now on. */
  readonly onApprove: (remember: Remember | undefined) => void;
  /** The person said no. */
  readonly onDecline: () => void;
  /** The person put the question away and said nothing. */
  readonly onCancel: () => void;
}

/** A model wants to call a tool, or to read a resource: nothing happens before the person says so. */
export function ToolApproval(props: ToolApprovalProps) {
  const { askId, question, busy, refusal, onApprove, onDecline, onCancel } = props;
  const ready = useArmed("asked") && !busy;
  const button = (act: () => void) => ({
    type: "button" as const,
    "aria-disabled": !ready,
    onClick: () => {
      if (ready) act();
    },
  });
  const isTool = question.type === "use_mcp_tool";
  const { serverName } = question;
  return (
    <AskCard
      {...{ askId, serverName, toolNames: [], busy, ready }}
      icon={isTool ? "tools" : "file"}
      does={
        isTool ? "has a tool that the model wants to use" : "has a resource the model wants to read"
      }
      onCancel={button(onCancel).onClick}
    >
      <p className="name">{visible(isTool ? question.tool.name : question.uri)}</p>
      {isTool && <Verbatim text={json(question.arguments)} />}
      {refusal !== undefined && <Refusal message={refusal} />}
      <div className="actions">
        <button className="primary" {...button(() => onApprove(undefined))}>
          Approve
        </button>
        <button {...button(() => onApprove("task"))}>Approve in this task</button>
        <button {...button(onDecline)}>Decline</button>
      </div>
    </AskCard>
  );
}
