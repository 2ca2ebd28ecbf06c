import type { Ask, Call, Message, SamplingTool } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { memo, useCallback } from "react";
import type { Actions } from "../../session.ts";
import type { Models } from "../../state/state.ts";
import { unreachable } from "../../unreachable.ts";
import { WaitingLine } from "../dock/WaitingLine.tsx";
import { useAway } from "../elsewhere/ElsewhereContext.ts";
import { FlowDiagram, SamplingFlow } from "../flow/SamplingFlow.tsx";
import { Icon } from "../ui/Icon.tsx";
import { AskRow } from "./AskRow.tsx";
import { AttachmentRow } from "./AttachmentRow.tsx";
import { CallRow } from "./CallRow.tsx";
import { ChangeContext } from "./ChangeContext.ts";
import { messageElementId } from "./focus.ts";
import { ModelRow } from "./ModelRow.tsx";
import type { GoOn } from "./modelEnd.ts";
import { NoticeRow } from "./NoticeRow.tsx";
import { PlacedHere } from "./PlacedHere.tsx";
import { RunAgain } from "./RunAgain.tsx";
import { UnavailableServers } from "./UnavailableServers.tsx";
import { UserRow } from "./UserRow.tsx";

export interface ChatRowProps {
  readonly taskId: string;
  readonly message: Message;
  readonly models: Models;
  readonly actions: Actions;
  /** The tools of the request that led to the answer which the message reviews. */
  readonly offered?: readonly SamplingTool[] | undefined;
  /** An open ask that the message's call waits for. */
  readonly waitsFor?: string | undefined;
  /** The lost call that can be made again from here. */
  readonly lostCall?: Call | undefined;
  /** What the person was asked about the message's call, which a model wanted. */
  readonly approval?: Ask | undefined;
  /** A turn of the conversation is under way. */
  readonly running?: boolean | undefined;
  /** The task can only be read, or the message has left its conversation. */
  readonly closed?: boolean | undefined;
  /** How the conversation goes on after the message, where it ended there and not well. */
  readonly goOn?: GoOn["label"] | undefined;
  readonly goOnBy?: GoOn["by"] | undefined;
}

/** One message of any kind. It is drawn again only when its props change. */
export const ChatRow = memo(function ChatRow(props: ChatRowProps) {
  const { actions } = props;
  const change = useCallback(() => actions.reveal({ kind: "grants" }), [actions]);
  return (
    <ChangeContext value={change}>
      <Row {...props} />
      {props.message.unsaved === true && <Unsaved />}
    </ChangeContext>
  );
});

/** Says that the message, as it is now, is in memory only. */
function Unsaved() {
  return (
    <p className="outcome">
      <Icon name="warning" />
      <span>
        <strong>{l10n.t("Not saved")}</strong>{" "}
        <span className="outcome-detail">
          {l10n.t("This is lost if Assent ends before it can write to the disk.")}
        </span>
      </span>
    </p>
  );
}

function Row(props: ChatRowProps) {
  const { taskId, message, models, actions, offered, waitsFor, lostCall, approval } = props;
  const { running = false, closed = false, goOn, goOnBy } = props;
  const { id, time, body } = message;
  const away = useAway() !== undefined;
  const keep = `${taskId}:${id}`;
  switch (body.type) {
    case "user":
      return (
        <UserRow
          said={body}
          {...{ keep, running, closed }}
          elementId={messageElementId(id)}
          onResend={(text) => {
            const { attachments } = body;
            return actions.sendChat({
              text,
              ...(attachments === undefined ? {} : { attachments }),
              replaces: id,
            });
          }}
          onBranch={() => actions.branchTask(taskId, id)}
        />
      );
    case "attachment":
      return <AttachmentRow attachment={body} keep={keep} elementId={messageElementId(id)} />;
    case "model":
      return (
        <ModelRow
          said={body}
          {...{ keep, goOn }}
          elementId={messageElementId(id)}
          onGoOn={() =>
            goOnBy === "message"
              ? void actions.sendChat({ text: l10n.t("Go on where you stopped.") })
              : actions.retryChat(taskId)
          }
          onBranch={() => actions.branchTask(taskId, id)}
        />
      );
    case "notice":
      return body.unavailable === undefined ? (
        <NoticeRow notice={body} />
      ) : (
        <UnavailableServers notice={body} servers={body.unavailable} {...{ actions, keep }} />
      );
    case "call":
      return (
        <>
          <CallRow
            call={body}
            startedAt={time}
            keep={keep}
            elementId={messageElementId(id)}
            waitsFor={waitsFor}
            approval={approval}
            onCancel={away ? undefined : () => actions.cancelCall(taskId, id)}
          />
          {lostCall !== undefined && !away && <RunAgain {...{ taskId, actions }} call={lostCall} />}
        </>
      );
    case "ask":
      if (body.outcome === undefined) {
        return <WaitingLine ask={body} elementId={messageElementId(id)} {...{ away }} />;
      }
      return (
        <>
          <AskRow {...{ taskId, models, actions, offered, keep }} ask={body} />
          {lostCall !== undefined && !away && (
            <RunAgain {...{ taskId, actions }} ask={body} call={lostCall} />
          )}
          <PlacedHere ask={body} />
          <SamplingFlow ask={body} />
          <FlowDiagram ask={body} keep={keep} />
        </>
      );
    default:
      return unreachable(body);
  }
}
