import { useRef } from "react";
import type { Actions } from "../../session.ts";
import type { Conversation, Models } from "../../state/state.ts";
import { Banner } from "../ui/Banner.tsx";
import { RowBoundary } from "../ui/RowBoundary.tsx";
import { ChatRow } from "./ChatRow.tsx";
import { askOf, offeredTo, openAsksOf } from "./openAsks.ts";
import { useStickyScroll } from "./useStickyScroll.ts";

export interface ChatViewProps {
  readonly conversation: Conversation;
  readonly models: Models;
  readonly actions: Actions;
}

/** The open task, the newest message last. */
export function ChatView({ conversation, models, actions }: ChatViewProps) {
  const { taskId, task, messages, earlier, paging, failure } = conversation;
  const scroller = useRef<HTMLElement>(null);
  useStickyScroll(scroller, messages);
  const asks = openAsksOf(conversation);
  return (
    <main ref={scroller} className="chat">
      {failure !== undefined && (
        <Banner
          level="error"
          actions={
            <button type="button" className="secondary" onClick={() => actions.retryTask(taskId)}>
              Try Again
            </button>
          }
        >
          The task could not be read: {failure}
        </Banner>
      )}
      {earlier && (
        <button
          type="button"
          className="link earlier"
          disabled={paging}
          onClick={actions.loadEarlier}
        >
          {paging ? "Loading earlier messages…" : "Show earlier messages"}
        </button>
      )}
      {task !== undefined && messages.length === 0 && (
        <p className="empty muted">
          {task.closed
            ? "Nothing happened here."
            : "Use a server: what it does and asks appears here."}
        </p>
      )}
      <ol className="rows" aria-label="Messages">
        {messages.map((message) => (
          <li key={message.id}>
            <RowBoundary>
              <ChatRow
                {...{ taskId, message, models, actions }}
                offered={offeredTo(message, messages)}
                waitsFor={askOf(message, asks)}
              />
            </RowBoundary>
          </li>
        ))}
      </ol>
      {task?.closed && <p className="closed muted">This task is closed.</p>}
    </main>
  );
}
