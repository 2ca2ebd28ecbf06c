import type { Message } from "@assent/protocol";
import { useVirtualizer } from "@tanstack/react-virtual";
import * as l10n from "@vscode/l10n";
import {
  type FocusEvent,
  type Ref,
  useCallback,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import type { Actions } from "../../session.ts";
import { indexOfMessage } from "../../state/messages.ts";
import type { Conversation, Models } from "../../state/state.ts";
import { Suggestions } from "../composer/Suggestions.tsx";
import { ElsewhereBanner } from "../elsewhere/ElsewhereBanner.tsx";
import { useAway } from "../elsewhere/ElsewhereContext.ts";
import { Banner } from "../ui/Banner.tsx";
import { Boundary } from "../ui/Boundary.tsx";
import { useView } from "../ViewContext.ts";
import { ChatRow } from "./ChatRow.tsx";
import { FindBar } from "./FindBar.tsx";
import { focusRow, parkedFocus } from "./focus.ts";
import { goOnAfter } from "./modelEnd.ts";
import { askOf, offeredTo, openAsksOf } from "./openAsks.ts";
import { Replaced } from "./Replaced.tsx";
import { likelyHeight, offsetOf } from "./rowHeight.ts";
import { lostCallOf } from "./runAgain.ts";
import { ShowContext } from "./ShowContext.ts";
import { foldOf, shownRows } from "./shownRows.ts";
import { UndrawnMessage } from "./UndrawnMessage.tsx";
import { useEarlier, useForgetting } from "./useEarlier.ts";
import { useFindKey } from "./useFindKey.ts";
import { useFound } from "./useFound.ts";
import { useMountedRows } from "./useMountedRows.ts";
import { usePlace } from "./usePlace.ts";

export interface ChatViewProps {
  readonly conversation: Conversation;
  readonly models: Models;
  readonly actions: Actions;
  /** Prompts for a conversation in which nothing was said yet. */
  readonly prompts?: readonly string[];
  /** Called for an open ask, which the dock shows. */
  readonly onShowAsk?: (askId: string) => void;
  readonly ref?: Ref<ChatHandle>;
}

/** What can be asked of the open task's messages. */
export interface ChatHandle {
  /** Brings a message that was read into view, and the focus to it. */
  show(messageId: number): void;
  /** The same, by an ask. */
  showAsk(askId: string): void;
  /** Lets the person find a text in the messages. */
  find(): void;
}

// Rows drawn beyond each edge of the view, for scrolling and for the Tab key.
const overscan = 8;

// Above the first row: the button for earlier messages, or nothing. Below the last one: air.
const earlierPx = 40;
const topPx = 4;
const bottomPx = 12;

/** The open task, the newest message last. Of its rows, those in sight are drawn. */
export function ChatView(props: ChatViewProps) {
  const { conversation: all, models, actions, prompts = [], onShowAsk = () => {}, ref } = props;
  const { taskId, task, moved, earlier, paging, failure } = all;
  const away = useAway();
  const readOnly = task?.closed === true || away !== undefined;
  const view = useView();
  // Changes whenever a fold is opened or closed, of which the view keeps which.
  const [folds, setFolds] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the view is read again when a fold changes.
  const shown = useMemo(
    () => shownRows(all.messages, (id) => view.expanded(`${taskId}:${id}:replaced`) ?? false),
    [all.messages, view, taskId, folds],
  );
  const { messages } = shown;
  const conversation = useMemo(() => ({ ...all, messages }), [all, messages]);
  const setFold = (id: number, open: boolean) => {
    view.setExpanded(`${taskId}:${id}:replaced`, open);
    setFolds(folds + 1);
  };
  const scroller = useRef<HTMLElement>(null);
  const { rangeExtractor, held, hold, firstKept } = useMountedRows(messages);
  const virtualizer = useVirtualizer<HTMLElement, HTMLLIElement>({
    count: messages.length,
    enabled: messages.length > 0,
    getScrollElement: () => scroller.current,
    getItemKey: useCallback((index: number) => messages[index]?.id ?? index, [messages]),
    estimateSize: (index) => likelyHeight(messages[index]),
    // The first drawing has rows already, before the panel is measured: what leads to one finds it.
    initialRect: { width: 0, height: window.innerHeight },
    // They are the newest messages, or those left in an earlier life.
    initialOffset: () => offsetOf(messages, view.get().place?.messageId),
    rangeExtractor,
    overscan,
    paddingStart: earlier ? earlierPx : topPx,
    paddingEnd: bottomPx,
    // The rows in sight stay in place when messages come or go above them. usePlace handles the end.
    anchorTo: "end",
    scrollEndThreshold: -1,
  });
  virtualizer.shouldAdjustScrollPositionOnItemSizeChange = (row, _delta, { scrollOffset }) => {
    const known = virtualizer.itemSizeCache.has(row.key) ? row.size : 0;
    return row.start + known <= (scrollOffset ?? 0);
  };
  const rows = virtualizer.getVirtualItems(); // computes the range, too
  const place = usePlace(scroller, virtualizer, messages);
  useEarlier(conversation, virtualizer.range?.startIndex, actions);
  useForgetting(conversation, firstKept, place.isAtBottom, actions);

  // A row that is to have the focus is drawn first.
  const [toFocus, setToFocus] = useState<{ readonly message: Message }>();
  useLayoutEffect(() => {
    if (toFocus !== undefined) focusRow(toFocus.message);
  }, [toFocus]);
  const show = (messageId: number) => {
    const message = messages[indexOfMessage(messages, messageId)];
    if (message === undefined) {
      const fold = foldOf(all.messages, messageId);
      if (fold !== undefined) setFold(fold, true);
      return;
    }
    hold(messageId);
    place.show(messageId);
    const { body } = message;
    if (body.type === "ask" && body.outcome === undefined) onShowAsk(body.askId);
    else setToFocus({ message });
  };
  const showAsk = (askId: string) => {
    const message = messages.findLast(({ body }) => body.type === "ask" && body.askId === askId);
    if (message !== undefined) show(message.id);
  };
  const bring = (messageId: number) => {
    if (indexOfMessage(messages, messageId) === -1) {
      const fold = foldOf(all.messages, messageId);
      if (fold !== undefined) setFold(fold, true);
      return fold === undefined;
    }
    hold(messageId);
    place.show(messageId);
    return true;
  };
  const { found, setFound } = useFound(all, actions, scroller, bring);
  const [finding, setFinding] = useState(false);
  const findField = useRef<HTMLInputElement>(null);
  const find = () => {
    setFinding(true);
    findField.current?.select(); // if the field is drawn already
    findField.current?.focus();
  };
  useLayoutEffect(() => {
    if (finding) findField.current?.focus();
  }, [finding]);
  useFindKey(find);
  const endFind = () => {
    setFinding(false);
    setFound(undefined);
    scroller.current?.focus({ preventScroll: true });
  };
  useImperativeHandle(ref, () => ({ show, showAsk, find }));
  const onFocus = ({ target }: FocusEvent) => {
    const index = target.closest<HTMLElement>(".rows > li")?.dataset["index"];
    const message = index === undefined ? undefined : messages[Number(index)];
    if (message !== undefined && message.id !== held) hold(message.id);
  };

  const asks = openAsksOf(conversation);
  const newest = messages.at(-1)?.id ?? 0;
  const last = messages.findLast(({ body }) => body.type === "user" || body.type === "model");
  const ended = last?.body.type === "model" ? last.body.end : undefined;
  const goOn =
    ended === undefined || task?.running || readOnly ? undefined : goOnAfter(ended.reason);
  return (
    <ShowContext value={showAsk}>
      <main className="chat">
        <ElsewhereBanner {...{ messages, moved }} />
        {finding && (
          <FindBar
            ref={findField}
            taskId={taskId}
            searchTasks={actions.searchTasks}
            onGo={setFound}
            onClose={endFind}
          />
        )}
        {failure !== undefined && (
          <Banner
            level="error"
            actions={
              <button type="button" className="secondary" onClick={() => actions.retryTask(taskId)}>
                {l10n.t("Try Again")}
              </button>
            }
          >
            {l10n.t("The task could not be read: {0}", failure)}
          </Banner>
        )}
        <section
          ref={scroller}
          className="messages"
          aria-label={l10n.t("Conversation")}
          {...parkedFocus}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
          tabIndex={0}
          onFocus={onFocus}
        >
          {earlier && (
            <button
              type="button"
              className="link earlier"
              disabled={paging}
              onClick={() => actions.loadEarlier()}
            >
              {paging ? l10n.t("Loading earlier messages…") : l10n.t("Show earlier messages")}
            </button>
          )}
          {task !== undefined && messages.length === 0 && (
            <p className="empty muted">
              {task.closed
                ? l10n.t("Nothing happened here.")
                : l10n.t(
                    "Ask the model, which asks you before it uses a server's tools. Or use a server yourself, below.",
                  )}
            </p>
          )}
          {task !== undefined && messages.length === 0 && !readOnly && (
            <Suggestions prompts={prompts} onChoose={(text) => void actions.sendChat({ text })} />
          )}
          <ol
            className="rows"
            aria-label={l10n.t("Messages")}
            style={{ height: virtualizer.getTotalSize() }}
          >
            {rows.map(({ index, start }) => {
              const message = messages[index];
              if (message === undefined) return null;
              return (
                <li
                  key={message.id}
                  ref={virtualizer.measureElement}
                  data-index={index}
                  className={classOf(shown.left.has(message.id), message.id === found?.messageId)}
                  // Messages are counted from 1, also those that are not read.
                  aria-posinset={message.id}
                  aria-setsize={newest}
                  style={{ top: start }}
                >
                  <Boundary
                    subject={message}
                    instead={(problem, onRetry) => (
                      <UndrawnMessage {...{ taskId, message, problem, actions, onRetry }} />
                    )}
                  >
                    {(shown.replaced.get(message.id) ?? 0) > 0 && (
                      <Replaced
                        n={shown.replaced.get(message.id) ?? 0}
                        open={view.expanded(`${taskId}:${message.id}:replaced`) ?? false}
                        onToggle={() => {
                          const key = `${taskId}:${message.id}:replaced`;
                          setFold(message.id, view.expanded(key) !== true);
                        }}
                      />
                    )}
                    <ChatRow
                      {...{ taskId, message, models, actions }}
                      offered={offeredTo(message, messages)}
                      waitsFor={askOf(message, asks)}
                      lostCall={lostCallOf(message, messages)}
                      approval={shown.approvals.get(message.id)}
                      running={message.body.type === "user" && task?.running === true}
                      closed={readOnly || shown.left.has(message.id)}
                      goOn={message === last ? goOn?.label : undefined}
                      goOnBy={message === last ? goOn?.by : undefined}
                    />
                  </Boundary>
                </li>
              );
            })}
          </ol>
          {task?.closed && <p className="closed muted">{l10n.t("This task is closed.")}</p>}
        </section>
      </main>
    </ShowContext>
  );
}

function classOf(left: boolean, found: boolean): string | undefined {
  const names = [...(left ? ["left"] : []), ...(found ? ["found"] : [])];
  return names.length === 0 ? undefined : names.join(" ");
}
