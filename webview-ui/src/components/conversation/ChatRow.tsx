import * as l10n from "@vscode/l10n";
import { memo } from "react";
import { unreachable } from "../../lib/unreachable.ts";
import type { Actions } from "../../store/session.ts";
import { askedFor } from "../../timeline/asked.ts";
import { type Entry, lostWith } from "../../timeline/timeline.ts";
import { CallRow } from "../call/CallRow.tsx";
import { type ReadResource, ReadResourceContext } from "../content/LinkedResource.tsx";
import { LazyApp } from "../mcpApps/LazyApp.tsx";
import { messageElementId } from "../ui/focus.ts";
import { AttachmentRow } from "./AttachmentRow.tsx";
import { ModelRow } from "./ModelRow.tsx";
import type { GoOn } from "./modelEnd.ts";
import { NoticeRow } from "./NoticeRow.tsx";
import { RunAgain } from "./RunAgain.tsx";
import { Steps } from "./Steps.tsx";
import { UnavailableServers } from "./UnavailableServers.tsx";
import { Unsaved } from "./Unsaved.tsx";
import { UserRow } from "./UserRow.tsx";

export interface ChatRowProps {
  readonly taskId: string;
  readonly entry: Entry;
  readonly actions: Actions;
  /** Whether a turn of the conversation is running. */
  readonly running?: boolean | undefined;
  /** The task is read-only, or the message has left its conversation. */
  readonly closed?: boolean | undefined;
  /** The task belongs to another workspace. Its servers are unknown here. */
  readonly foreign?: boolean | undefined;
  /** How the conversation can continue after this last message, if it ended early. */
  readonly goOn?: GoOn["label"] | undefined;
  readonly goOnBy?: GoOn["by"] | undefined;
  /** The model can be asked again with the servers that this notice names. */
  readonly asksAgain?: boolean | undefined;
}

/** One entry of the timeline. It renders again only when its props change. */
export const ChatRow = memo(function ChatRow(props: ChatRowProps) {
  const { message } = props.entry;
  return (
    <>
      <Row {...props} />
      {message.unsaved === true && message.body.type !== "ask" && <Unsaved />}
    </>
  );
});

function Row(props: ChatRowProps) {
  const { taskId, entry, actions } = props;
  const { message, steps, asked, lostCall } = entry;
  const { running = false, closed = false, goOn, goOnBy } = props;
  const { foreign = false, asksAgain = false } = props;
  const { id, time, body } = message;
  const keep = `${taskId}:${id}`;
  const onBranch = foreign ? undefined : () => actions.branchTask(taskId, id);
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
          onBranch={onBranch}
        />
      );
    case "attachment":
      return <AttachmentRow attachment={body} keep={keep} elementId={messageElementId(id)} />;
    case "model":
      return (
        <ModelRow
          said={body}
          {...{ asked, keep, goOn }}
          elementId={messageElementId(id)}
          onGoOn={() =>
            goOnBy === "message"
              ? void actions.sendChat({ text: l10n.t("Go on where you stopped.") })
              : actions.retryChat(taskId)
          }
          onBranch={onBranch}
        />
      );
    case "notice":
      return body.unavailable === undefined || foreign ? (
        <NoticeRow notice={body} />
      ) : (
        <UnavailableServers
          notice={body}
          servers={body.unavailable}
          {...{ actions, keep }}
          onAskAgain={asksAgain ? () => actions.retryChat(taskId) : undefined}
        />
      );
    case "call":
      return (
        <ReadResourceContext
          value={closed || foreign ? undefined : onRead(body.serverName, actions)}
        >
          <CallRow
            call={body}
            startedAt={time}
            keep={keep}
            elementId={messageElementId(id)}
            waits={steps.some(({ ask }) => ask.outcome === undefined)}
            asked={body.endedAt === undefined ? 0 : askedFor(steps, time, body.endedAt)}
            steps={<Steps {...{ taskId, steps, actions }} inCall />}
            app={
              body.appUri === undefined || closed
                ? undefined
                : (plain, onPlain) => (
                    <LazyApp {...{ taskId, actions, plain, onPlain }} messageId={id} call={body} />
                  )
            }
            onCancel={() => actions.cancelCall(taskId, id)}
          />
          {!foreign && lostCall !== undefined && (
            <RunAgain {...{ taskId, actions }} asks={lostWith(steps)} call={lostCall} />
          )}
        </ReadResourceContext>
      );
    case "ask":
      return <Steps {...{ taskId, steps, actions }} inCall={false} />;
    default:
      return unreachable(body);
  }
}

/** Returns how the links in a server's result are followed. */
function onRead(serverName: string, actions: Actions): ReadResource {
  return (uri) => actions.startCall({ serverName, request: { type: "resources/read", uri } });
}
