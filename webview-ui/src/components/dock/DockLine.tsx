import * as l10n from "@vscode/l10n";
import { countOlderAsks, findOpenAsks } from "../../store/openAsks.ts";
import type { Conversation } from "../../store/openTask.ts";
import { useView } from "../../view/ViewContext.ts";
import { own } from "../../view/viewState.ts";
import { AskTitleLine, titleOf } from "../ask/askTitle.tsx";
import { Icon } from "../ui/Icon.tsx";
import { currentOf } from "./dockedAsks.ts";
import { countWords, olderWords } from "./dockWords.ts";

export interface DockLineProps {
  readonly conversation: Conversation;
  /** The person wants to see the ask in the dock. */
  readonly onShow: (askId: string) => void;
  /** The person wants to see the oldest ask, which is on a page that is not loaded. */
  readonly onShowOlder: () => void;
}

/** The line below a page that leads to the question in the dock. */
export function DockLine({ conversation, onShow, onShowOlder }: DockLineProps) {
  const view = useView();
  const { taskId, messages } = conversation;
  const asks = findOpenAsks(messages);
  const current = currentOf(asks, messages, own(view.get().dock.current, taskId));
  const older = countOlderAsks(conversation);
  const total = older + asks.length;
  if (total === 0) return null;
  return (
    <section className="dock dock-collapsed" aria-label={l10n.t("Waiting for you")}>
      {current === undefined ? (
        <button type="button" className="dock-tools dock-line" onClick={onShowOlder}>
          <Icon name="bell-dot" />
          <span className="dock-title">{olderWords(older)}</span>
          <Icon name="chevron-up" />
        </button>
      ) : (
        <button
          type="button"
          className="dock-tools dock-line"
          title={l10n.t("Show Question")}
          onClick={() => onShow(current.ask.askId)}
        >
          <Icon name={titleOf(current.ask.question).icon} />
          {total > 1 && (
            <span className="dock-count">
              {countWords(older + asks.indexOf(current) + 1, total)}
            </span>
          )}
          <span className="dock-title">
            <AskTitleLine question={current.ask.question} />
          </span>
          <Icon name="chevron-up" />
        </button>
      )}
    </section>
  );
}
