import type { Resource, Server } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useEffect, useId, useRef, useState } from "react";
import { visible } from "../../lib/visible.ts";
import { itemsOf, type Offers } from "../../store/offers.ts";
import type { Actions } from "../../store/session.ts";
import { IconButton } from "../ui/IconButton.tsx";
import { Refusal } from "../ui/Refusal.tsx";
import { ChoicePanel } from "./ChoicePanel.tsx";

export interface ContextChoiceProps {
  /** The servers of the task; empty if no task is open, because resources are read in a task. */
  readonly servers: readonly Server[];
  readonly offers: ReadonlyMap<string, Offers>;
  readonly actions: Pick<Actions, "listOffers">;
  /** The host is VS Code, from which files can be dragged. */
  readonly picksFiles: boolean;
  readonly onFiles: () => void;
  readonly onResource: (serverName: string, resource: Resource) => void;
}

/** With more resources than this there is a filter, and at most this many are shown. */
const mostShown = 50;

/** The choice of attachments: files, and resources of the task's servers. */
export function ContextChoice(props: ContextChoiceProps) {
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const panelId = useId();
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  return (
    <>
      <IconButton
        ref={button}
        icon="attach"
        label={l10n.t("Add Context")}
        aria-expanded={open}
        aria-controls={open ? panelId : undefined}
        onClick={() => setOpen(!open)}
      />
      {open && <Choices {...props} panelId={panelId} onClose={close} />}
    </>
  );
}

interface ChoicesProps extends ContextChoiceProps {
  readonly panelId: string;
  readonly onClose: () => void;
}

function Choices(props: ChoicesProps) {
  const { servers, offers, actions, picksFiles, onFiles, onResource, panelId, onClose } = props;
  const [filter, setFilter] = useState("");
  const first = useRef<HTMLButtonElement>(null);
  useEffect(() => first.current?.focus(), []);
  const names = servers.map(({ name }) => name).join("\n");
  useEffect(() => {
    const aborter = new AbortController();
    for (const name of names === "" ? [] : names.split("\n")) {
      actions.listOffers(name, ["resources"], aborter.signal);
    }
    return () => aborter.abort();
  }, [names, actions]);
  const lists = servers.map(({ name }) => ({ name, list: offers.get(name)?.resources }));
  const found = lists.flatMap(({ name, list }) =>
    itemsOf(list)
      .filter((resource) => fits(name, resource, filter))
      .map((resource) => ({ name, resource })),
  );
  const loading = lists.some(({ list }) => list === undefined || list.state === "loading");
  return (
    <ChoicePanel
      id={panelId}
      legend={l10n.t("Add Context")}
      closeLabel={l10n.t("Close Add Context")}
      onClose={onClose}
    >
      <button
        ref={first}
        type="button"
        className="secondary context-files"
        onClick={() => {
          onClose();
          onFiles();
        }}
      >
        {l10n.t("Files…")}
      </button>
      {picksFiles && (
        <p className="muted">
          {l10n.t("Hold Shift to drag files from the Explorer onto the message.")}
        </p>
      )}
      {servers.length > 0 && (
        <>
          <input
            type="search"
            aria-label={l10n.t("Find a resource")}
            placeholder={l10n.t("Find a resource…")}
            value={filter}
            onChange={({ target }) => setFilter(target.value)}
          />
          <ul aria-label={l10n.t("Resources")}>
            {found.slice(0, mostShown).map(({ name, resource }) => (
              <li key={`${name} ${resource.uri}`}>
                <button
                  type="button"
                  className="task-option"
                  onClick={() => {
                    onClose();
                    onResource(name, resource);
                  }}
                >
                  {visible(titleOf(resource))} <span className="muted">{visible(name)}</span>
                </button>
              </li>
            ))}
          </ul>
          <p role="status" className="muted">
            {loading ? l10n.t("Loading…") : wordsOf(found.length)}
          </p>
          {lists.map(
            ({ name, list }) =>
              list?.state === "failed" && (
                <Refusal key={name} message={`${name}: ${list.message}`} />
              ),
          )}
        </>
      )}
    </ChoicePanel>
  );
}

function wordsOf(found: number): string {
  if (found === 0) return l10n.t("There is no such resource.");
  return found > mostShown ? l10n.t("{0} more. Type part of the name.", found - mostShown) : "";
}

/** The name of a resource. */
export function titleOf({ title, name, uri }: Resource): string {
  return title ?? (name === "" ? uri : name);
}

function fits(serverName: string, resource: Resource, filter: string): boolean {
  const text = `${serverName} ${titleOf(resource)} ${resource.uri}`.toLowerCase();
  return text.includes(filter.trim().toLowerCase());
}
