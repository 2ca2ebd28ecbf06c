import type { Grant } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { type ReactNode, useEffect, useRef, useState } from "react";
import type { Grants as Known } from "../../store/grants.ts";
import type { Models } from "../../store/servers.ts";
import { useView } from "../../view/ViewContext.ts";
import { Disclosure } from "../ui/Disclosure.tsx";
import { ListPanel } from "../ui/ListPanel.tsx";
import { useNow } from "../ui/useNow.ts";
import { GrantItem } from "./GrantItem.tsx";
import { isAlive } from "./grantWords.ts";
import { NewGrant, type NewGrantProps } from "./NewGrant.tsx";

export interface GrantsProps
  extends Pick<NewGrantProps, "serverNames" | "onServer" | "onCreate" | "onPreview" | "onOpen"> {
  readonly known: Known;
  /** The grant that is to have the focus. */
  readonly at: string | undefined;
  readonly models: Models;
  /** Rejects where the grant goes on. */
  readonly onRevoke: (grantId: string) => Promise<void>;
  readonly onRetry: () => void;
  readonly onClose: () => void;
  /** What else may be done without asking. */
  readonly children?: ReactNode;
}

/** Everything that servers may do without asking, and the way to end it. */
export function Grants(props: GrantsProps) {
  const { known, at, models, onRevoke, onRetry, onClose, children, ...making } = props;
  const { entries, news, failure } = known;
  const [isMaking, setIsMaking] = useState(false);
  const make = useRef<HTMLButtonElement>(null);
  const top = useRef<HTMLParagraphElement>(null);
  const done = () => {
    setIsMaking(false);
    make.current?.focus();
  };
  const now = useNow(entries?.some(({ expiresAt = 0 }) => expiresAt > 0) ?? false);
  const alive = entries?.filter((grant) => isAlive(grant, now)) ?? [];
  const ended = entries?.filter((grant) => !isAlive(grant, now)) ?? [];
  // Models have names, which say more than their ids.
  const { serverNames, onServer } = making;
  const named = serverNames.filter((name) => alive.some(({ serverName }) => serverName === name));
  const wanted = JSON.stringify(named);
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked once for what is the same list.
  useEffect(() => {
    for (const serverName of named) onServer(serverName);
  }, [wanted]);
  const isEnded = ended.some(({ id }) => id === at);
  const { row, isFound } = useFocused(at, entries !== undefined, isEnded);
  const list = (some: readonly Grant[], label: string) => (
    <ul className="grants" aria-label={label}>
      {some.map((grant) => (
        <li key={grant.id} {...(grant.id === at && { ref: row, tabIndex: -1 })}>
          <GrantItem
            {...{ grant, now }}
            models={models.get(grant.serverName)?.models}
            onRevoke={async () => {
              await onRevoke(grant.id);
              // The button is gone with its grant.
              top.current?.focus();
            }}
          />
        </li>
      ))}
    </ul>
  );
  return (
    <ListPanel
      heading={l10n.t("Grants")}
      closeLabel={l10n.t("Close the List of Grants")}
      busy={news !== undefined}
      {...{ failure, onRetry, onClose }}
    >
      <p ref={top} className="muted" tabIndex={-1}>
        {summaryOf(entries, alive.length)}
      </p>
      {alive.length > 0 && list(alive, l10n.t("Grants that may approve requests"))}
      {ended.length > 0 && (
        <Disclosure
          key={isFound ? "found" : "kept"}
          keep={endedKey}
          summary={l10n.t("{0} ended", ended.length)}
        >
          {list(ended, l10n.t("Grants that ended"))}
        </Disclosure>
      )}
      {making.serverNames.length > 0 && (
        <div className="actions">
          <button
            ref={make}
            type="button"
            className="secondary small"
            aria-expanded={isMaking}
            onClick={() => setIsMaking(!isMaking)}
          >
            {l10n.t("New Grant…")}
          </button>
        </div>
      )}
      {isMaking && <NewGrant {...making} models={models} onDone={done} />}
      {children}
    </ListPanel>
  );
}

/** Where the view keeps whether the ended grants are shown. */
const endedKey = "grants-ended";

/** Gives the focus to the row of a grant once, when the list is read. Without such a row the panel keeps it. */
function useFocused(at: string | undefined, isRead: boolean, isEnded: boolean) {
  const view = useView();
  const row = useRef<HTMLLIElement>(null);
  // The fold of the ended grants is drawn anew then, and open.
  const [isFound, setIsFound] = useState(false);
  useEffect(() => {
    if (at === undefined || !isRead) return;
    if (isEnded) view.setExpanded(endedKey, true);
    setIsFound(true);
  }, [at, isRead, isEnded, view]);
  useEffect(() => {
    if (!isFound) return;
    row.current?.focus({ preventScroll: true });
    row.current?.scrollIntoView({ block: "nearest" });
  }, [isFound]);
  return { row, isFound };
}

function summaryOf(entries: readonly Grant[] | undefined, alive: number): string {
  if (entries === undefined) return "";
  return alive === 0
    ? l10n.t("Every request to a model waits for your approval.")
    : l10n.t("These requests to a model do not wait for your approval:");
}
