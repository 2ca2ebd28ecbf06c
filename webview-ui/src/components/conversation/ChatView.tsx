import type { Message } from "@assent/protocol";
import { useVirtualizer } from "@tanstack/react-virtual";
import * as l10n from "@vscode/l10n";
import {
  type ReactNode,
  type Ref,
  type RefObject,
  useCallback,
  useImperativeHandle,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { indexOfMessage } from "../../store/messages.ts";
import type { Conversation } from "../../store/openTask.ts";
import type { Actions } from "../../store/session.ts";
import { foldOf, shownEntries } from "../../timeline/replaced.ts";
import { type Entry, type Timeline, timelineOf } from "../../timeline/timeline.ts";
import { useView } from "../../view/ViewContext.ts";
import { ShowContext } from "../ask/contexts.ts";
import { Banner } from "../ui/Banner.tsx";
import { Boundary } from "../ui/Boundary.tsx";
import { focusRow, parkedFocus } from "../ui/focus.ts";
import { ChatRow, type ChatRowProps } from "./ChatRow.tsx";
import { FindBar } from "./FindBar.tsx";
import { goOnAfter } from "./modelEnd.ts";
import { Replaced } from "./Replaced.tsx";
import { likelyHeight, offsetOf } from "./rowHeight.ts";
import { UndrawnMessage } from "./UndrawnMessage.tsx";
import { useEarlier, useForgetting } from "./useEarlier.ts";
import { useFindKey } from "./useFindKey.ts";
import { useFound } from "./useFound.ts";
import { type MountedRows, useMountedRows } from "./useMountedRows.ts";
import { usePlace } from "./usePlace.ts";

export interface ChatViewProps {
  readonly conversation: Conversation;
  readonly actions: Actions;
  /** What the person can do in an empty conversation. */
  readonly begin?: ReactNode;
  /** Called for an open ask, which the dock shows. */
  readonly onShowAsk?: (askId: string) => void;
  readonly ref?: Ref<ChatHandle>;
}

/** The functions that the list of messages provides. */
export interface ChatHandle {
  /** Scrolls to a loaded message and focuses it. */
  show(messageId: number): void;
  /** Scrolls to an ask and focuses it. */
  showAsk(askId: string): void;
  /** Opens the search field. */
  find(): void;
}

// Rows drawn beyond each edge of the view, for scrolling and for the Tab key.
const overscan = 8;

// Above the first row: the button for earlier messages, or nothing. Below the last row: some space.
const earlierPx = 40;
const topPx = 4;
const bottomPx = 12;

/** The open task, the newest message last. Only the visible rows are rendered. */
export function ChatView(props: ChatViewProps) {
  const { conversation, actions, begin, onShowAsk = () => {}, ref } = props;
  const { taskId, task, earlier, paging, failure } = conversation;
  const foreign = task?.workspace !== undefined;
  const readOnly = task?.closed === true || foreign;
  const { timeline, shown, rowOf, isOpen, setFold } = useTimeline(conversation);
  const { entries } = shown;
  /** The messages with rows. */
  const messages = useMemo(() => entries.map(({ message }) => message), [entries]);
  const scroller = useRef<HTMLElement>(null);
  const { rangeExtractor, held, hold } = useMountedRows(messages);
  const virtualizer = useRows(scroller, entries, messages, rangeExtractor, earlier);
  const rows = virtualizer.getVirtualItems(); // computes the range, too
  const place = usePlace(scroller, virtualizer, messages);
  useEarlier(conversation, virtualizer.range?.startIndex, actions);
  useForgetting(conversation, held, place.isAtBottom, actions);

  const bring = (messageId: number) => {
    const row = rowOf(messageId);
    if (indexOfMessage(messages, row) === -1) {
      const fold = foldOf(timeline, row);
      if (fold !== undefined) setFold(fold, true);
      return fold === undefined ? row : undefined;
    }
    hold(row);
    place.show(row);
    return row;
  };
  const { show, showAsk } = useShow(conversation, messages, bring, onShowAsk);
  const { row: foundRow, setFound } = useFound(conversation, actions, scroller, bring);
  const { finding, findField, find, endFind } = useFinding(scroller, () => {
    setFound(undefined);
    scroller.current?.focus({ preventScroll: true });
  });
  useImperativeHandle(ref, () => ({ show, showAsk, find }));
  const newest = conversation.messages.at(-1)?.id ?? 0;
  const last = messages.findLast(({ body }) => body.type === "user" || body.type === "model");
  const goOn = task?.running || readOnly ? undefined : goOnFrom(last);
  const asksAgain = (notice: Message): boolean =>
    task?.running !== true && !readOnly && isOfLastTurn(notice, last, messages, shown.left);
  return (
    <ShowContext value={showAsk}>
      <main className="chat">
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
          <ReadFailure failure={failure} onRetry={() => actions.retryTask(taskId)} />
        )}
        <section
          ref={scroller}
          className="messages"
          aria-label={l10n.t("Conversation")}
          {...parkedFocus}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
          tabIndex={0}
          onFocus={({ target }) => {
            const message = messages[indexOfRow(target)];
            if (message !== undefined && message.id !== held) hold(message.id);
          }}
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
          {task?.closed && messages.length === 0 && (
            <p className="empty muted">{l10n.t("No messages yet.")}</p>
          )}
          {task !== undefined && messages.length === 0 && !readOnly && begin}
          <ol
            className="rows"
            aria-label={l10n.t("Messages")}
            style={{ height: virtualizer.getTotalSize() }}
          >
            {rows.map(({ index, start }) => {
              const entry = entries[index];
              if (entry === undefined) return null;
              const { message } = entry;
              const isLast = message === last;
              return (
                <li
                  key={message.id}
                  ref={virtualizer.measureElement}
                  data-index={index}
                  className={classOf(shown.left.has(message.id), message.id === foundRow)}
                  // Positions count from 1 and include messages that are not loaded.
                  aria-posinset={message.id}
                  aria-setsize={newest}
                  style={{ top: start }}
                >
                  <Row
                    {...{ taskId, entry, actions, foreign }}
                    replaced={shown.replaced.get(message.id) ?? 0}
                    isOpen={isOpen(message.id)}
                    onFold={(open) => setFold(message.id, open)}
                    running={message.body.type === "user" && task?.running === true}
                    closed={readOnly || shown.left.has(message.id)}
                    goOn={isLast ? goOn?.label : undefined}
                    goOnBy={isLast ? goOn?.by : undefined}
                    asksAgain={message.body.type === "notice" && asksAgain(message)}
                  />
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

interface ReadFailureProps {
  readonly failure: string;
  readonly onRetry: () => void;
}

function ReadFailure({ failure, onRetry }: ReadFailureProps) {
  return (
    <Banner
      level="error"
      actions={
        <button type="button" className="secondary" onClick={onRetry}>
          {l10n.t("Try Again")}
        </button>
      }
    >
      {l10n.t("The task could not be read: {0}", failure)}
    </Banner>
  );
}

interface RowProps extends ChatRowProps {
  /** How many messages before it have left the conversation. */
  readonly replaced: number;
  /** Whether those are shown. */
  readonly isOpen: boolean;
  readonly onFold: (open: boolean) => void;
}

/** The row of a message, after the line for the messages that it replaced. */
function Row({ replaced, isOpen, onFold, ...row }: RowProps) {
  const { taskId, entry, actions } = row;
  const { message } = entry;
  return (
    <Boundary
      subject={entry}
      instead={(problem, onRetry) => (
        <UndrawnMessage {...{ taskId, message, problem, actions, onRetry }} />
      )}
    >
      {replaced > 0 && <Replaced n={replaced} open={isOpen} onToggle={() => onFold(!isOpen)} />}
      <ChatRow {...row} />
    </Boundary>
  );
}

/** The timeline of a conversation, with the open folds. */
function useTimeline({ taskId, messages }: Conversation) {
  const view = useView();
  // Changes whenever a fold opens or closes. The view's state stores which folds are open.
  const [folds, setFolds] = useState(0);
  // Unchanged entries stay the same objects from one timeline to the next.
  const before = useRef<Timeline>(undefined);
  const timeline = useMemo(() => timelineOf(messages, before.current), [messages]);
  before.current = timeline;
  const keyOf = (id: number) => `${taskId}:${id}:replaced`;
  const isOpen = (id: number) => view.expanded(keyOf(id)) ?? false;
  // biome-ignore lint/correctness/useExhaustiveDependencies: the view is read again when a fold changes.
  const shown = useMemo(() => shownEntries(timeline, isOpen), [timeline, view, taskId, folds]);
  return {
    timeline,
    shown,
    isOpen,
    rowOf: (messageId: number) => timeline.within.get(messageId) ?? messageId,
    setFold(id: number, open: boolean) {
      view.setExpanded(keyOf(id), open);
      setFolds(folds + 1);
    },
  };
}

/** Returns the visible rows and their positions. */
function useRows(
  scroller: RefObject<HTMLElement | null>,
  entries: readonly Entry[],
  messages: readonly Message[],
  rangeExtractor: MountedRows["rangeExtractor"],
  earlier: boolean,
) {
  const view = useView();
  const virtualizer = useVirtualizer<HTMLElement, HTMLLIElement>({
    count: messages.length,
    enabled: messages.length > 0,
    getScrollElement: () => scroller.current,
    getItemKey: useCallback((index: number) => messages[index]?.id ?? index, [messages]),
    estimateSize: (index) => likelyHeight(entries[index]),
    // The first render has rows before the panel is measured, so that links to a row find it.
    initialRect: { width: 0, height: window.innerHeight },
    // They are the newest messages, or those at the position that an earlier page stored.
    initialOffset: () => offsetOf(entries, view.get().place?.messageId),
    rangeExtractor,
    overscan,
    paddingStart: earlier ? earlierPx : topPx,
    paddingEnd: bottomPx,
    // Visible rows keep their place when messages are added or removed above them. usePlace handles the end.
    anchorTo: "end",
    scrollEndThreshold: -1,
  });
  virtualizer.shouldAdjustScrollPositionOnItemSizeChange = (row, _delta, { scrollOffset }) => {
    const known = virtualizer.itemSizeCache.has(row.key) ? row.size : 0;
    return row.start + known <= (scrollOffset ?? 0);
  };
  return virtualizer;
}

/** Scrolls to messages, and focuses them or their asks. */
function useShow(
  conversation: Conversation,
  rows: readonly Message[],
  /** Scrolls to a message. Returns the message with its row; undefined if it has none yet. */
  bring: (messageId: number) => number | undefined,
  onShowAsk: (askId: string) => void,
) {
  // A row must be rendered before it gets the focus.
  const [toFocus, setToFocus] = useState<{ readonly message: Message }>();
  useLayoutEffect(() => {
    if (toFocus !== undefined) focusRow(toFocus.message);
  }, [toFocus]);
  const show = (messageId: number) => {
    const all = conversation.messages;
    const message = all[indexOfMessage(all, messageId)];
    const row = bring(messageId);
    if (message === undefined || indexOfMessage(rows, row ?? -1) === -1) return;
    const { body } = message;
    if (body.type === "ask" && body.outcome === undefined) onShowAsk(body.askId);
    else setToFocus({ message });
  };
  const showAsk = (askId: string) => {
    const isIt = ({ body }: Message) => body.type === "ask" && body.askId === askId;
    const message = conversation.messages.findLast(isIt);
    if (message !== undefined) show(message.id);
  };
  return { show, showAsk };
}

/** Opens and closes the search field. */
function useFinding(scroller: RefObject<HTMLElement | null>, onEnd: () => void) {
  const [finding, setFinding] = useState(false);
  const findField = useRef<HTMLInputElement>(null);
  const find = () => {
    setFinding(true);
    findField.current?.select(); // if the field is rendered already
    findField.current?.focus();
  };
  useLayoutEffect(() => {
    if (finding) findField.current?.focus();
  }, [finding]);
  useFindKey(scroller, find);
  const endFind = () => {
    setFinding(false);
    onEnd();
  };
  return { finding, findField, find, endFind };
}

/** Returns how the conversation can continue after its last message, if it ended early. */
function goOnFrom(last: Message | undefined) {
  const end = last?.body.type === "model" ? last.body.end : undefined;
  return end && goOnAfter(end.reason);
}

/** Reports whether a notice is of the last turn, which has ended and was not retried. */
function isOfLastTurn(
  notice: Message,
  last: Message | undefined,
  messages: readonly Message[],
  left: ReadonlySet<number>,
): boolean {
  if (last?.body.type !== "model") return false;
  const later = messages.filter(({ id }) => id > notice.id);
  return !later.some(({ id, body }) => body.type === "user" || left.has(id));
}

/** Returns the index of the row that an element is in; -1 if it is in none. */
function indexOfRow(element: Element): number {
  return Number(element.closest<HTMLElement>(".rows > li")?.dataset["index"] ?? -1);
}

function classOf(left: boolean, found: boolean): string | undefined {
  const names = [...(left ? ["left"] : []), ...(found ? ["found"] : [])];
  return names.length === 0 ? undefined : names.join(" ");
}
