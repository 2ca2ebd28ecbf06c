import type { Call, Message, SamplingTool } from "@assent/protocol";
import { memo } from "react";
import type { Actions } from "../../session.ts";
import type { Models } from "../../state/state.ts";
import { unreachable } from "../../unreachable.ts";
import { SamplingFlow } from "../flow/SamplingFlow.tsx";
import { AskRow } from "./AskRow.tsx";
import { AskTime } from "./AskTime.tsx";
import { CallRow } from "./CallRow.tsx";
import { DeclinedAll } from "./DeclinedAll.tsx";
import { messageElementId } from "./focus.ts";
import { ModelRow } from "./ModelRow.tsx";
import { NoticeRow } from "./NoticeRow.tsx";
import { PlacedHere } from "./PlacedHere.tsx";
import { RunAgain } from "./RunAgain.tsx";
import { UserRow } from "./UserRow.tsx";

export interface ChatRowProps {
  readonly taskId: string;
  readonly message: Message;
  readonly models: Models;
  readonly actions: Actions;
  /** The tools that were offered in the request whose answer the message reviews. */
  readonly offered?: readonly SamplingTool[] | undefined;
  /** An open ask that the message's call waits for. */
  readonly waitsFor?: string | undefined;
  /** The lost call that can be made again from here. */
  readonly lostCall?: Call | undefined;
}

/** One message, of whatever kind. It is drawn again only when the message itself changed. */
export const ChatRow = memo(function ChatRow(props: ChatRowProps) {
  const { taskId, message, models, actions, offered, waitsFor, lostCall } = props;
  const { id, time, body } = message;
  const keep = `${taskId}:${id}`;
  switch (body.type) {
    case "user":
      return <UserRow said={body} />;
    case "model":
      return <ModelRow said={body} />;
    case "notice":
      return <NoticeRow notice={body} />;
    case "call":
      return (
        <>
          <CallRow
            call={body}
            startedAt={time}
            keep={keep}
            elementId={messageElementId(id)}
            waitsFor={waitsFor}
            onCancel={() => actions.cancelCall(taskId, id)}
          />
          {lostCall !== undefined && <RunAgain {...{ taskId, actions }} call={lostCall} />}
        </>
      );
    case "ask":
      return (
        <>
          <AskRow {...{ taskId, models, actions, offered, keep }} ask={body} />
          {lostCall !== undefined && (
            <RunAgain {...{ taskId, actions }} ask={body} call={lostCall} />
          )}
          <PlacedHere ask={body} />
          <AskTime {...{ taskId, actions }} ask={body} />
          <DeclinedAll ask={body} actions={actions} />
          <SamplingFlow ask={body} keep={keep} />
        </>
      );
    default:
      return unreachable(body);
  }
});
