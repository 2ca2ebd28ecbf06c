import type { JoinedCall, Message, UseMcpServer } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import {
  type KeyboardEvent,
  type Ref,
  useEffect,
  useId,
  useImperativeHandle,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { indexOfMessage } from "../../store/messages.ts";
import { offeredTo } from "../../store/openAsks.ts";
import type { Conversation } from "../../store/openTask.ts";
import type { Models } from "../../store/servers.ts";
import type { Actions } from "../../store/session.ts";
import { acceptCard } from "../ask/acceptCard.ts";
import { AskTitleLine, titleOf } from "../ask/askTitle.tsx";
import { focusAsk, mayTakeFocus } from "../ui/focus.ts";
import { Icon } from "../ui/Icon.tsx";
import { IconButton } from "../ui/IconButton.tsx";
import { DockedAsk } from "./DockedAsk.tsx";
import { stepFrom } from "./dockedAsks.ts";
import { countWords, olderWords } from "./dockWords.ts";
import { type DockSize, useDock } from "./useDock.ts";
import { useReturnFocus } from "./useReturnFocus.ts";

export interface AskDockProps {
  readonly conversation: Conversation;
  readonly models: Models;
  readonly actions: Actions;
  /** How many of the task's open asks are on pages that are not loaded. */
  readonly older: number;
  /** The person wants the oldest of those asks, or the newest. */
  readonly onOlder: (which: "first" | "last") => void;
  /** Takes the focus if the element that had it before the dock is gone. */
  readonly onLeave: () => void;
  readonly ref?: Ref<DockHandle>;
}

export interface DockHandle {
  /** Shows an open ask and focuses it. */
  show(askId: string): void;
}

/** Shows one open ask of the task at a time, between the conversation and the composer. */
export function AskDock(props: AskDockProps) {
  const { conversation, models, actions, older, onOlder, onLeave, ref } = props;
  const { taskId, messages } = conversation;
  const dock = useDock(taskId, messages);
  const { asks, current, visited, size, turn } = dock;
  const root = useRef<HTMLElement>(null);
  const expand = useRef<HTMLButtonElement>(null);
  const askId = current?.ask.askId;
  const collapsed = size === "collapsed";

  /** The ask to focus; without an id, the button that expands the collapsed dock. */
  const [toFocus, setToFocus] = useState<{ readonly askId: string | undefined }>();
  useLayoutEffect(() => {
    if (toFocus === undefined) return;
    if (toFocus.askId === undefined) expand.current?.focus();
    else focusAsk(toFocus.askId);
  }, [toFocus]);
  const show = (askId: string) => {
    dock.show(askId);
    setToFocus({ askId });
  };
  useImperativeHandle(ref, () => ({ show }));

  // A new current question takes the focus, unless the person uses another control.
  useEffect(() => {
    if (askId !== undefined && !collapsed && mayTakeFocus()) focusAsk(askId);
  }, [askId, collapsed]);
  const returning = useReturnFocus(root, asks.length === 0, onLeave);

  // A dock that was empty reopens at half size.
  const isEmpty = asks.length === 0 && older === 0;
  const wasThere = useRef(false);
  useEffect(() => {
    if (isEmpty && wasThere.current && size === "expanded") dock.resize("half");
    wasThere.current = !isEmpty;
  });

  if (isEmpty) return null;
  const total = older + asks.length;
  const resize = (next: DockSize) => {
    dock.resize(next);
    if (next === "collapsed") setToFocus({ askId: undefined });
    else if (collapsed) setToFocus({ askId });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.nativeEvent.isComposing || askId === undefined) return;
    if (event.key === "Escape" && !collapsed) {
      event.preventDefault();
      resize("collapsed");
      return;
    }
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    // A held key answers one question, but not the next one.
    if (event.repeat) return;
    if (collapsed) resize("half");
    else acceptCard(root.current?.querySelector<HTMLElement>(".docked:not([hidden])"));
  };
  const step = (way: "next" | "previous") => {
    if (current === undefined) return;
    const to = stepFrom(asks, current, older, way);
    if ("to" in to) dock.show(to.to.ask.askId);
    else onOlder(to.older);
  };
  return (
    <section
      ref={root}
      className={`dock dock-${current === undefined ? "collapsed" : size}${total > 1 ? " dock-many" : ""}`}
      aria-label={l10n.t("Waiting for you")}
      onKeyDown={onKeyDown}
      {...returning}
    >
      <div className="dock-tools">
        {current === undefined ? (
          <OlderOnly older={older} onShow={() => onOlder("first")} />
        ) : (
          <DockTools
            {...{ size, expand, total }}
            question={current.ask.question}
            at={older + asks.indexOf(current) + 1}
            onResize={resize}
            onStep={step}
          />
        )}
      </div>
      {visited.map(({ index, ask }) => {
        const message = messages[index];
        if (message === undefined) return null;
        return (
          <DockedAsk
            key={ask.askId}
            {...{ taskId, message, ask, models, actions, turn }}
            offered={offeredTo(message, messages)}
            joined={joinedOf(ask.question.messageId, messages)}
            shown={ask.askId === askId && !collapsed}
          />
        );
      })}
    </section>
  );
}

/** The equal calls that wait for the call of a question, as far as they are known. */
function joinedOf(
  callId: number | undefined,
  messages: readonly Message[],
): JoinedCall | undefined {
  const body = callId === undefined ? undefined : messages[indexOfMessage(messages, callId)]?.body;
  return body?.type === "call" ? body.joined : undefined;
}

/** The line of a dock if all asks are on pages that are not loaded. */
function OlderOnly({ older, onShow }: { readonly older: number; readonly onShow: () => void }) {
  return (
    <>
      <Icon name="bell-dot" />
      <span className="dock-title">{olderWords(older)}</span>
      <button type="button" className="link" onClick={onShow}>
        {l10n.t("Show")}
      </button>
    </>
  );
}

interface DockToolsProps {
  readonly question: UseMcpServer;
  readonly size: DockSize;
  /** The button that expands the collapsed dock. */
  readonly expand: Ref<HTMLButtonElement>;
  /** Which of the open asks is shown, from 1. */
  readonly at: number;
  readonly total: number;
  readonly onResize: (size: DockSize) => void;
  readonly onStep: (way: "next" | "previous") => void;
}

/** The count of the open asks, and the buttons that step through them and size the dock. */
function DockTools({ question, size, expand, at, total, onResize, onStep }: DockToolsProps) {
  const titleId = useId();
  const count = countWords(at, total);
  if (size === "collapsed") {
    return (
      <>
        <Icon name={titleOf(question).icon} />
        {total > 1 && <span className="dock-count">{count}</span>}
        <span id={titleId} className="dock-title">
          <AskTitleLine question={question} />
        </span>
        <IconButton
          ref={expand}
          icon="chevron-up"
          label={l10n.t("Expand Question")}
          aria-describedby={titleId}
          onClick={() => onResize("half")}
        />
      </>
    );
  }
  const expanded = size === "expanded";
  return (
    <>
      {total > 1 && (
        <>
          <span className="dock-count" role="status">
            {count}
          </span>
          <IconButton
            icon="chevron-left"
            label={l10n.t("Previous Question")}
            onClick={() => onStep("previous")}
          />
          <IconButton
            icon="chevron-right"
            label={l10n.t("Next Question")}
            onClick={() => onStep("next")}
          />
        </>
      )}
      <IconButton
        icon={expanded ? "screen-normal" : "screen-full"}
        label={expanded ? l10n.t("Restore Question Size") : l10n.t("Expand Question")}
        className="dock-size"
        onClick={() => onResize(expanded ? "half" : "expanded")}
      />
      <IconButton
        icon="chevron-down"
        label={l10n.t("Collapse Question (Escape)")}
        onClick={() => onResize("collapsed")}
      />
    </>
  );
}
