import * as l10n from "@vscode/l10n";
import {
  type KeyboardEvent,
  type ReactNode,
  useContext,
  useId,
  useLayoutEffect,
  useRef,
} from "react";
import { acceptKeys } from "../../lib/keys.ts";
import { filled } from "../../lib/l10n.ts";
import { firstLine } from "../../timeline/subject.ts";
import { useView } from "../../view/ViewContext.ts";
import { UnclampedContext } from "../ui/Clamp.tsx";
import { askElementId } from "../ui/focus.ts";
import { Icon } from "../ui/Icon.tsx";
import { AskDetails } from "./AskDetails.tsx";
import { DockedContext } from "./contexts.ts";
import type { Occasion } from "./origin.ts";
import { type Reading, readingSaid } from "./useReading.ts";

export interface AskCardProps extends Occasion {
  readonly askId: string;
  readonly serverName: string;
  readonly icon: string;
  /** The title, with the server's name at {0}: "{0} asks", "{0} wants to ask a model". */
  readonly does: string;
  /** What the server asks. Its first line is then the heading, and the title stands below. */
  readonly asks?: string;
  /** The icon of the name at {0}. */
  readonly whatIcon?: ReactNode;
  /** The name to put at {0}. The server's name is then shown below the title. */
  readonly what?: string;
  /** The tooltip of that name. */
  readonly whatHint?: string;
  /** The raw name of a tool. */
  readonly rawName?: string | undefined;
  /** Whether the whole question was in view. */
  readonly reading: Reading;
  /** An answer is being sent. */
  readonly busy: boolean;
  /** Why the last answer failed, or why the ask cannot be answered now. */
  readonly problems?: ReactNode;
  /** All buttons that answer the ask. The one that accepts comes first. */
  readonly actions: ReactNode;
  /** The question, which is in view before an answer. */
  readonly children: ReactNode;
  /** Drawn below that. It need not be in view before an answer. */
  readonly below?: ReactNode;
}

/** The frame of every open ask. The head and the actions stay visible, and the question between them scrolls. */
export function AskCard(props: AskCardProps) {
  const { askId, serverName, icon, does, what, whatHint, whatIcon, busy, problems, actions } =
    props;
  const { asks = "", toolNames, resourceUri, rawName, reading, children, below } = props;
  const asked = firstLine(asks);
  const { shown, ofHost = false, listed = false, head, notes, more } = useContext(DockedContext);
  const headingId = useId();
  const askedId = useId();
  const keysId = useId();
  const view = useView();
  const body = useRef<HTMLDivElement>(null);

  // A hidden element loses its scroll position: restore it when the card is shown again.
  useLayoutEffect(() => {
    if (shown && body.current !== null) body.current.scrollTop = view.dockedTop(askId);
  }, [shown, askId, view]);

  const title = filled(
    does,
    <strong className="name" title={whatHint}>
      {whatIcon}
      {what ?? serverName}
    </strong>,
  );
  return (
    <section
      id={askElementId(askId)}
      className="ask-card"
      aria-labelledby={listed && asked !== undefined ? `${askedId} ${headingId}` : headingId}
      aria-describedby={asked === undefined || listed ? keysId : `${askedId} ${keysId}`}
      aria-busy={busy}
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.target === event.currentTarget) scrollByKey(event, body.current);
      }}
    >
      <header className="ask-head">
        <Icon name={icon} />
        <div className="ask-who">
          {asked === undefined ? (
            <h2 id={headingId}>
              {title}
              {what !== undefined && (
                <>
                  {" "}
                  <span className="muted name ask-from">{serverName}</span>
                </>
              )}
            </h2>
          ) : (
            <>
              <h2 id={askedId}>
                <q className="name">{asked}</q>
              </h2>
              <p id={headingId} className="muted ask-from">
                {title}
              </p>
            </>
          )}
        </div>
      </header>
      {head !== null && <div className="ask-state">{head}</div>}
      <div
        ref={body}
        className="ask-body"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
        tabIndex={0}
        onScroll={({ currentTarget }) => {
          if (currentTarget.clientHeight > 0) view.setDockedTop(askId, currentTarget.scrollTop);
        }}
      >
        {notes}
        <UnclampedContext value={readAtOnce}>{children}</UnclampedContext>
        <div ref={reading.end} className="read-to" />
        {below}
        <AskDetails {...{ askId, serverName, ofHost, toolNames, resourceUri, rawName, more }} />
      </div>
      <div className="ask-problems">{problems}</div>
      <div className="ask-actions actions">{actions}</div>
      <span id={keysId} className="visually-hidden">
        {l10n.t("{0} accepts. Escape sets the question aside.", acceptKeys().words)}
      </span>
      <span role="status" className="visually-hidden">
        {readingSaid(reading)}
      </span>
    </section>
  );
}

/**
 * The card shows a question with at most this many characters in full, so that the approved content is not hidden
 * behind a button.
 */
const readAtOnce = 2048;

/** Scrolls the question by keys while the card itself has the focus. */
function scrollByKey(event: KeyboardEvent, body: HTMLElement | null): void {
  if (body === null || event.altKey || event.ctrlKey || event.metaKey) return;
  const line = 40;
  const page = Math.max(line, body.clientHeight - line);
  const by: Readonly<Record<string, number>> = {
    ArrowDown: line,
    ArrowUp: -line,
    PageDown: page,
    PageUp: -page,
    Home: -body.scrollHeight,
    End: body.scrollHeight,
  };
  const step = by[event.key];
  if (step === undefined) return;
  event.preventDefault();
  body.scrollTop += step;
}
