import type { Ask, JoinedCall, Message, SamplingTool } from "@assent/protocol";
import { useMemo } from "react";
import type { Models } from "../../store/servers.ts";
import type { Actions } from "../../store/session.ts";
import { AskJSON } from "../ask/AskJSON.tsx";
import { AskTime } from "../ask/AskTime.tsx";
import { DockedContext } from "../ask/contexts.ts";
import { JoinedHere } from "../ask/JoinedHere.tsx";
import { PlacedHere } from "../ask/PlacedHere.tsx";
import { UndrawnMessage } from "../conversation/UndrawnMessage.tsx";
import { FlowDiagram, SamplingFlow } from "../flow/SamplingFlow.tsx";
import { Boundary } from "../ui/Boundary.tsx";
import { AskRow } from "./AskRow.tsx";

export interface DockedAskProps {
  readonly taskId: string;
  readonly message: Message;
  readonly ask: Ask;
  readonly models: Models;
  readonly actions: Actions;
  readonly offered: readonly SamplingTool[] | undefined;
  /** That of the question's call. */
  readonly joined: JoinedCall | undefined;
  /** This ask is the visible one. Hidden ones keep their controls, with text and caret. */
  readonly shown: boolean;
  readonly turn: number;
}

/** One question in the dock, with what belongs to it. */
export function DockedAsk(props: DockedAskProps) {
  const { taskId, message, ask, models, actions, offered, joined, shown, turn } = props;
  const keep = `${taskId}:${message.id}`;
  const callId = ask.question.messageId;
  const docked = useMemo(
    () => ({
      ...{ turn, shown, ofHost: ask.ask === "host_permission" },
      head: (
        <>
          <SamplingFlow ask={ask} />
          <AskTime {...{ taskId, actions, ask }} />
        </>
      ),
      notes: (
        <>
          <PlacedHere ask={ask} />
          {callId !== undefined && (
            <JoinedHere
              joined={joined}
              onRunSeparately={() => actions.runSeparately(taskId, callId)}
            />
          )}
        </>
      ),
      more: (
        <>
          <FlowDiagram ask={ask} keep={keep} />
          <AskJSON question={ask.question} keep={keep} />
        </>
      ),
    }),
    [turn, shown, ask, joined, callId, taskId, actions, keep],
  );
  return (
    <DockedContext value={docked}>
      <div className="docked" hidden={!shown}>
        <Boundary
          subject={message}
          instead={(problem, onRetry) => (
            <UndrawnMessage {...{ taskId, message, problem, actions, onRetry }} />
          )}
        >
          <AskRow messageId={message.id} {...{ taskId, ask, models, actions, offered, keep }} />
        </Boundary>
      </div>
    </DockedContext>
  );
}
