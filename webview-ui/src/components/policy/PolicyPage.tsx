import type { PolicyEntry, Task } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useEffect, useId, useRef, useState } from "react";
import type { Policy } from "../../store/policy.ts";
import type { Models } from "../../store/servers.ts";
import { useView } from "../../view/ViewContext.ts";
import { NewGrant, type NewGrantProps } from "../grants/NewGrant.tsx";
import { Disclosure } from "../ui/Disclosure.tsx";
import { Page } from "../ui/Page.tsx";
import { useNow } from "../ui/useNow.ts";
import { Limits } from "./Limits.tsx";
import { NewAskFirst } from "./NewAskFirst.tsx";
import { OpenedForm } from "./OpenedForm.tsx";
import { PolicyItem, type PolicyItemActions } from "./PolicyItem.tsx";
import { entryWords, isActive, keyOf, nameOf } from "./policyWords.ts";

export interface PolicyPageProps
  extends Pick<NewGrantProps, "serverNames" | "onServer" | "onCreate" | "onPreview" | "onOpen"> {
  readonly known: Policy;
  /** The grant that takes the focus. */
  readonly at: string | undefined;
  readonly models: Models;
  /** The tasks, for the titles of those that an entry is limited to. */
  readonly tasks: readonly Task[];
  readonly actions: PolicyItemActions;
  readonly onRetry: () => void;
  readonly onBack: () => void;
}

/** With this number of entries or more, there is a filter. */
const many = 8;

/** All policy entries: automatic answers and limits, with the ways to change them. */
export function PolicyPage(props: PolicyPageProps) {
  const { known, at, models, tasks, actions, onRetry, onBack, ...making } = props;
  const { entries, news, failure } = known;
  const [filter, setFilter] = useState("");
  const top = useRef<HTMLParagraphElement>(null);
  const now = useNow(
    entries?.some((entry) => entry.type === "grant" && (entry.grant.expiresAt ?? 0) > 0) ?? false,
  );
  const shown = entries?.filter((entry) => fits(entry, filter, tasks)) ?? [];
  const active = shown.filter((entry) => isActive(entry, now));
  const ended = shown.filter((entry) => entry.type === "grant" && !isActive(entry, now));
  const asking = shown.filter(({ effect }) => effect === "ask");
  const limits = shown.filter(({ effect }) => effect === "limit");
  useNames(active, making);
  const isEnded = ended.some((entry) => keyOf(entry) === at);
  const { row, isFound } = useFocused(at, entries !== undefined, isEnded);
  const list = (some: readonly PolicyEntry[], label: string | { readonly id: string }) => (
    <ul
      className="policy-entries"
      {...(typeof label === "string" ? { "aria-label": label } : { "aria-labelledby": label.id })}
    >
      {some.map((entry) => (
        <li key={keyOf(entry)} {...(keyOf(entry) === at && { ref: row, tabIndex: -1 })}>
          <PolicyItem
            {...{ entry, tasks, now, actions }}
            models={models.get(entry.serverName ?? "")?.models}
            onEnded={() => top.current?.focus()}
          />
        </li>
      ))}
    </ul>
  );
  const id = useId();
  const group = (effect: PolicyEntry["effect"], heading: string) => {
    const some = [...active, ...asking].filter((entry) => entry.effect === effect);
    if (some.length === 0) return null;
    return (
      <section className="policy-group">
        <h3 id={`${id}${effect}`}>{heading}</h3>
        {list(some, { id: `${id}${effect}` })}
      </section>
    );
  };
  return (
    <Page
      heading={l10n.t("Automatic Answers")}
      busy={news !== undefined}
      {...{ failure, onRetry, onBack }}
    >
      <div className="policy-page">
        <p ref={top} className="muted" tabIndex={-1}>
          {summaryOf(entries, now)}
        </p>
        {(entries?.length ?? 0) > many && (
          <input
            type="text"
            aria-label={l10n.t("Filter by server, tool or setting")}
            placeholder={l10n.t("Filter by server, tool or setting…")}
            value={filter}
            onChange={({ target }) => setFilter(target.value)}
          />
        )}
        {filter.trim() !== "" && (
          <p className="muted" role="status">
            {l10n.t("{0} of {1} shown", shown.length, entries?.length ?? 0)}
          </p>
        )}
        {group("ask", l10n.t("Agents ask you first"))}
        {group("approve", l10n.t("Approved without asking"))}
        {group("decline", l10n.t("Declined without asking"))}
        {ended.length > 0 && (
          <Disclosure
            key={isFound ? "found" : "kept"}
            keep={endedKey}
            summary={l10n.t("{0} ended", ended.length)}
          >
            {list(ended, l10n.t("Ended grants"))}
          </Disclosure>
        )}
        {limits.length > 0 && <Limits entries={limits} actions={actions} />}
        <div className="policy-makers">
          {making.serverNames.length > 0 && (
            <OpenedForm label={l10n.t("New Grant…")}>
              {(onDone) => <NewGrant {...{ ...making, models, onDone }} />}
            </OpenedForm>
          )}
          <OpenedForm label={l10n.t("Ask Me First…")}>
            {(onDone) => <NewAskFirst onAdd={actions.addAskFirst} onDone={onDone} />}
          </OpenedForm>
        </div>
      </div>
    </Page>
  );
}

function fits(entry: PolicyEntry, filter: string, tasks: readonly Task[]): boolean {
  const { serverName, toolName, setting } = entry;
  const name = entry.type === "askFirst" && nameOf(entry);
  const words = entryWords(entry, tasks);
  const text = [serverName, toolName, setting, name, words].join(" ").toLowerCase();
  return text.includes(filter.trim().toLowerCase());
}

/** Requests the models of the servers with grants, to show their names instead of their ids. */
function useNames(
  active: readonly PolicyEntry[],
  { serverNames, onServer }: Pick<PolicyPageProps, "serverNames" | "onServer">,
): void {
  const grants = active.filter(({ type }) => type === "grant");
  const named = serverNames.filter((name) => grants.some(({ serverName }) => serverName === name));
  const wanted = JSON.stringify(named);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the same list is read once.
  useEffect(() => {
    for (const serverName of named) onServer(serverName);
  }, [wanted]);
}

/** The key that stores whether the ended grants are shown. */
const endedKey = "grants-ended";

/** Focuses the row of a grant once, when the list is read. Without such a row the panel keeps the focus. */
function useFocused(at: string | undefined, isRead: boolean, isEnded: boolean) {
  const view = useView();
  const row = useRef<HTMLLIElement>(null);
  // The fold of the ended grants then renders again, opened.
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

function summaryOf(entries: readonly PolicyEntry[] | undefined, now: number): string {
  if (entries === undefined) return "";
  return entries.some((entry) => isActive(entry, now))
    ? l10n.t("Assent asks you about everything that is not listed here.")
    : l10n.t("Assent asks you about everything. Nothing is answered automatically.");
}
