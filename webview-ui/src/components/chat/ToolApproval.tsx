import type { AccessMcpResource, Remember, UseMcpTool } from "@assent/protocol";
import { useId, useState } from "react";
import type { Draft } from "../../viewState.ts";
import { Clamp } from "../ui/Clamp.tsx";
import { Icon } from "../ui/Icon.tsx";
import { Refusal } from "../ui/Refusal.tsx";
import { visible } from "../ui/visible.ts";
import { json } from "../ui/words.ts";
import { AskCard } from "./AskCard.tsx";
import { AskMessage } from "./AskMessage.tsx";
import { Verbatim } from "./ContentBlocks.tsx";
import { readArguments, toolClaims } from "./toolWords.ts";
import { useArmed } from "./useArmed.ts";

export interface ToolApprovalProps {
  readonly askId: string;
  readonly question: UseMcpTool | AccessMcpResource;
  /** An answer is under way. */
  readonly busy: boolean;
  /** Why the last answer was refused. */
  readonly refusal: string | undefined;
  /** What was typed in an earlier life of the view. */
  readonly draft: Draft | undefined;
  readonly onDraft: (draft: Draft) => void;
  /** The person lets the model do it, perhaps with other arguments, and perhaps from now on. */
  readonly onApprove: (remember: Remember | undefined, toolArguments: unknown) => void;
  /** The person said no, perhaps from now on. */
  readonly onDecline: (remember: Remember | undefined) => void;
  /** The person put the question away and said nothing. */
  readonly onCancel: () => void;
}

/** A model wants to call a tool, or to read a resource: nothing happens before the person says so. */
export function ToolApproval(props: ToolApprovalProps) {
  const { askId, question, busy, refusal, draft, onDraft, onApprove, onDecline, onCancel } = props;
  const ready = useArmed("asked") && !busy;
  const [edited, setEdited] = useState(() => textOf(draft?.["arguments"]));
  const [problem, setProblem] = useState<string>();
  const isTool = question.type === "use_mcp_tool";
  const destructive = isTool && question.destructive === true;
  const { serverName } = question;
  const press = (act: () => void) => () => {
    if (ready) act();
  };
  const approve = (remember?: Remember) => {
    if (edited === undefined) {
      onApprove(remember, undefined);
      return;
    }
    const reading = readArguments(edited);
    setProblem("problem" in reading ? reading.problem : undefined);
    if (!("problem" in reading)) onApprove(remember, reading.value);
  };
  const button = { type: "button", "aria-disabled": !ready } as const;
  return (
    <AskCard
      {...{ askId, serverName, toolNames: [], busy, ready }}
      icon={destructive ? "warning" : isTool ? "tools" : "file"}
      does={
        isTool ? "has a tool that the model wants to use" : "has a resource the model wants to read"
      }
      onCancel={press(onCancel)}
    >
      {isTool ? (
        <AskedTool {...{ askId, question, destructive }} />
      ) : (
        <AskedResource {...{ askId, question }} />
      )}
      {isTool && (
        <Arguments
          {...{ askId, question, busy, edited, problem }}
          onEdit={(text) => {
            setEdited(text);
            setProblem(undefined);
            onDraft(text === undefined ? {} : { arguments: text });
          }}
          onCheck={(text) => {
            const reading = readArguments(text);
            setProblem("problem" in reading ? reading.problem : undefined);
          }}
        />
      )}
      {refusal !== undefined && <Refusal message={refusal} />}
      <div className="actions">
        <button
          {...button}
          className={destructive ? "primary danger" : "primary"}
          onClick={press(() => approve())}
        >
          Approve
        </button>
        <button {...button} className="secondary" onClick={press(() => onDecline(undefined))}>
          Decline
        </button>
      </div>
      <fieldset className="actions approval-remember">
        <legend className="muted">and from now on</legend>
        <button {...button} className="secondary small" onClick={press(() => approve("task"))}>
          Approve in This Task
        </button>
        <button {...button} className="secondary small" onClick={press(() => approve("always"))}>
          {isTool ? "Always for This Tool" : "Always for This Resource"}
        </button>
        <button {...button} className="secondary small" onClick={press(() => onDecline("never"))}>
          Never
        </button>
      </fieldset>
    </AskCard>
  );
}

interface AskedToolProps {
  readonly askId: string;
  readonly question: UseMcpTool;
  readonly destructive: boolean;
}

/** The tool in its server's words, and what its server claims of it. */
function AskedTool({ askId, question: { tool, serverName }, destructive }: AskedToolProps) {
  const title = tool.title ?? tool.annotations?.title;
  return (
    <>
      <p>
        <strong className="name">{visible(title ?? tool.name)}</strong>
        {title !== undefined && <span className="muted"> ({visible(tool.name)})</span>}
      </p>
      <AskMessage {...{ askId, serverName }} text={tool.description ?? ""} />
      <ul className="tool-claims" aria-label={`What ${serverName} claims of it`}>
        {toolClaims(tool.annotations).map(({ icon, words }) => (
          <li key={words}>
            <Icon name={icon} />
            <span>{words}</span>
          </li>
        ))}
      </ul>
      {destructive && (
        <p className="danger-line">
          <Icon name="warning" />
          <span>It may destroy something: read the arguments before you approve.</span>
        </p>
      )}
    </>
  );
}

function AskedResource({
  askId,
  question: { uri, resource, serverName },
}: {
  readonly askId: string;
  readonly question: AccessMcpResource;
}) {
  const title = resource?.title ?? resource?.name;
  return (
    <>
      {title !== undefined && <strong className="name">{visible(title)}</strong>}
      <p className="page-url" dir="ltr">
        {visible(uri)}
      </p>
      <AskMessage {...{ askId, serverName }} text={resource?.description ?? ""} />
    </>
  );
}

interface ArgumentsProps {
  readonly askId: string;
  readonly question: UseMcpTool;
  readonly busy: boolean;
  /** Absent where they are as the model wrote them. */
  readonly edited: string | undefined;
  readonly problem: string | undefined;
  readonly onEdit: (text: string | undefined) => void;
  readonly onCheck: (text: string) => void;
}

/** What the tool would be called with, which the person may change. */
function Arguments(props: ArgumentsProps) {
  const { askId, question, busy, edited, problem, onEdit, onCheck } = props;
  const headingId = useId();
  const problemId = useId();
  const written = json(question.arguments);
  return (
    <div className="approval-arguments">
      <div className="approval-arguments-head">
        <h3 id={headingId}>Arguments</h3>
        <button
          type="button"
          className="link"
          onClick={() => onEdit(edited === undefined ? written : undefined)}
        >
          {edited === undefined ? "Edit" : "As the Model Wrote Them"}
        </button>
      </div>
      {edited === undefined ? (
        <Clamp keep={`arguments:${askId}`} text={written}>
          <Verbatim text={written} />
        </Clamp>
      ) : (
        <>
          <textarea
            className="code"
            aria-labelledby={headingId}
            aria-invalid={problem !== undefined}
            aria-describedby={problem === undefined ? undefined : problemId}
            readOnly={busy}
            value={edited}
            ref={takeFocus}
            onChange={({ target }) => onEdit(target.value)}
            onBlur={() => onCheck(edited)}
          />
          {problem !== undefined && (
            <p id={problemId} role="alert" className="refusal">
              <Icon name="error" />
              <span>{problem}</span>
            </p>
          )}
        </>
      )}
    </div>
  );
}

function takeFocus(element: HTMLTextAreaElement | null): void {
  element?.focus({ preventScroll: true });
}

function textOf(input: unknown): string | undefined {
  return typeof input === "string" ? input : undefined;
}
