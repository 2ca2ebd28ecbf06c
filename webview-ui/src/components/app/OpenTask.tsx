import { type RefObject, useContext } from "react";
import { olderAsks } from "../../store/askOrder.ts";
import { DeclinedContext, ServersContext } from "../../store/contexts.ts";
import { countOlderAsks } from "../../store/openAsks.ts";
import type { Conversation } from "../../store/openTask.ts";
import { modelsFor } from "../../store/servers.ts";
import type { Actions } from "../../store/session.ts";
import type { State } from "../../store/state.ts";
import { type ChatHandle, ChatView } from "../conversation/ChatView.tsx";
import { AskDock, type DockHandle } from "../dock/AskDock.tsx";
import { FirstSteps } from "../tasks/FirstSteps.tsx";
import { IconsContext, noIcons } from "../ui/icons.ts";

export interface OpenTaskProps {
  readonly conversation: Conversation;
  readonly state: State;
  readonly actions: Actions;
  readonly chat: RefObject<ChatHandle | null>;
  readonly dock: RefObject<DockHandle | null>;
  readonly onOpenMessage: (taskId: string, messageId: number) => void;
  /** The dock has the focus but nothing more to show. */
  readonly onLeaveDock: () => void;
}

/** The conversation of the open task, and the dock with its open asks. */
export function OpenTask(props: OpenTaskProps) {
  const { conversation, state, actions, chat, dock, onOpenMessage, onLeaveDock } = props;
  const { taskId, task } = conversation;
  const own = task?.workspace === undefined;
  const icons = useContext(IconsContext);
  return (
    // The servers of another workspace are unknown here.
    <ServersContext value={own ? state.servers : undefined}>
      <IconsContext value={own ? icons : noIcons}>
        <DeclinedContext value={state.inbox.declined}>
          <ChatView
            key={taskId}
            ref={chat}
            {...{ conversation, actions }}
            begin={<FirstSteps {...{ state, actions }} />}
            onShowAsk={(askId) => dock.current?.show(askId)}
          />
        </DeclinedContext>
        <AskDock
          key={`dock ${taskId}`}
          ref={dock}
          {...{ conversation, actions }}
          models={modelsFor(state, task)}
          older={countOlderAsks(conversation)}
          onOlder={(which) => {
            const older = olderAsks(state);
            const ask = which === "first" ? older[0] : older.at(-1);
            if (ask === undefined) actions.loadEarlier();
            else onOpenMessage(ask.taskId, ask.messageId);
          }}
          onLeave={onLeaveDock}
        />
      </IconsContext>
    </ServersContext>
  );
}
