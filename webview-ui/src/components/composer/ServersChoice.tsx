import type { Server, TaskSettings } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useEffect, useId, useRef, useState } from "react";
import { visible } from "../../lib/visible.ts";
import { itemsOf, type Offers } from "../../store/offers.ts";
import type { Actions } from "../../store/session.ts";
import { Icon } from "../ui/Icon.tsx";
import { Refusal } from "../ui/Refusal.tsx";
import { ChoicePanel } from "./ChoicePanel.tsx";
import { enabledOf, serversWords, withServer, withTool } from "./taskServers.ts";

export interface ServersChoiceProps {
  readonly servers: readonly Server[];
  readonly offers: ReadonlyMap<string, Offers>;
  readonly settings: TaskSettings;
  readonly actions: Pick<Actions, "listOffers">;
  readonly onChange: (settings: TaskSettings) => void;
}

/** The servers and tools that the model of a conversation may use. */
export function ServersChoice(props: ServersChoiceProps) {
  const { servers, settings } = props;
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const panelId = useId();
  const names = servers.map(({ name }) => name);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  if (servers.length === 0) return null;
  return (
    <>
      <button
        ref={button}
        type="button"
        className="composer-servers"
        aria-label={l10n.t("Servers: {0}", serversWords(settings, names))}
        aria-expanded={open}
        aria-controls={open ? panelId : undefined}
        onClick={() => setOpen(!open)}
      >
        <Icon name="tools" />
        <span>{serversWords(settings, names)}</span>
      </button>
      {open && <Choices {...props} names={names} panelId={panelId} onClose={close} />}
    </>
  );
}

interface ChoicesProps extends ServersChoiceProps {
  readonly names: readonly string[];
  readonly panelId: string;
  readonly onClose: () => void;
}

function Choices(props: ChoicesProps) {
  const { servers, offers, settings, actions, onChange, names, panelId, onClose } = props;
  const panel = useRef<HTMLFieldSetElement>(null);
  useEffect(() => panel.current?.querySelector("input")?.focus(), []);
  return (
    <ChoicePanel
      ref={panel}
      id={panelId}
      legend={l10n.t("Tools for the model")}
      closeLabel={l10n.t("Close Tools for the Model")}
      onClose={onClose}
    >
      <ul>
        {servers.map((server) => (
          <ServerLine
            key={server.name}
            {...{ server, settings, actions, onChange, names }}
            offers={offers.get(server.name)}
          />
        ))}
      </ul>
      <p className="muted">
        {l10n.t("Assent asks you before a model calls a tool, unless you decided otherwise.")}
      </p>
    </ChoicePanel>
  );
}

interface ServerLineProps
  extends Pick<ChoicesProps, "settings" | "actions" | "onChange" | "names"> {
  readonly server: Server;
  readonly offers: Offers | undefined;
}

function ServerLine({ server, offers, settings, actions, onChange, names }: ServerLineProps) {
  const [open, setOpen] = useState(false);
  const reading = useRef<AbortController>(null);
  const toolsId = useId();
  const { name } = server;
  const enabled = enabledOf(settings, name);
  const list = offers?.tools;
  const tools = itemsOf(list).map((tool) => tool.name);
  useEffect(() => () => reading.current?.abort(), []);
  const toggle = () => {
    setOpen(!open);
    // Opening a server's tools starts it.
    if (open || list?.state === "ready" || list?.state === "loading") return;
    reading.current = new AbortController();
    actions.listOffers(name, ["tools"], reading.current.signal);
  };
  return (
    <li>
      <div className="server-choice">
        <label>
          <input
            type="checkbox"
            checked={enabled !== undefined}
            onChange={({ target }) =>
              onChange(
                withServer(
                  settings,
                  names,
                  name,
                  target.checked ? { serverName: name } : undefined,
                ),
              )
            }
          />
          <span className="name">{visible(name)}</span>
          {enabled?.toolNames !== undefined && (
            <span className="muted">{l10n.t("{0} tools", enabled.toolNames.length)}</span>
          )}
        </label>
        <button
          type="button"
          className="link"
          aria-expanded={open}
          aria-controls={open ? toolsId : undefined}
          aria-label={l10n.t("Tools of {0}", name)}
          onClick={toggle}
        >
          {l10n.t("Tools")}
        </button>
      </div>
      {open && (
        <div id={toolsId} className="tool-choices">
          {(list === undefined || list.state === "loading") && (
            <p role="status" className="muted">
              <Icon name="loading" spin /> {l10n.t("Reading its tools…")}
            </p>
          )}
          {list?.state === "failed" && <Refusal message={list.message} />}
          {list?.state === "ready" && tools.length === 0 && (
            <p className="muted">{l10n.t("It has no tools.")}</p>
          )}
          {tools.map((tool) => (
            <label key={tool}>
              <input
                type="checkbox"
                checked={
                  enabled !== undefined &&
                  (enabled.toolNames === undefined || enabled.toolNames.includes(tool))
                }
                onChange={({ target }) =>
                  onChange(withTool(settings, names, name, tools, tool, target.checked))
                }
              />
              <span className="name">{visible(tool)}</span>
            </label>
          ))}
        </div>
      )}
    </li>
  );
}
