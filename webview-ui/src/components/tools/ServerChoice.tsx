import type { Server } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useId } from "react";
import { Verbatim } from "../content/ContentBlocks.tsx";
import { stateIcon, stateWords, transportWords } from "../servers/serverWords.ts";
import { Disclosure } from "../ui/Disclosure.tsx";
import { Icon } from "../ui/Icon.tsx";
import { ServerIcon } from "../ui/ServerIcon.tsx";

export interface ServerChoiceProps {
  readonly servers: readonly Server[];
  readonly chosen: Server | undefined;
  readonly onChoose: (serverName: string) => void;
  readonly onRestart: (serverName: string) => void;
  readonly onStop: (serverName: string) => void;
  readonly onShow: (serverName: string) => void;
  /** Takes the focus when the runner is opened. */
  readonly selectRef: React.Ref<HTMLSelectElement>;
}

/** The choice of the server, with its state. */
export function ServerChoice(props: ServerChoiceProps) {
  const { servers, chosen, onChoose, selectRef, ...doing } = props;
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{l10n.t("Server")}</label>
      <div className="iconed-choice">
        {chosen !== undefined && <ServerIcon serverName={chosen.name} />}
        <select
          id={id}
          ref={selectRef}
          value={chosen?.name ?? ""}
          onChange={(event) => onChoose(event.target.value)}
        >
          <option value="" disabled>
            {l10n.t("Choose a server…")}
          </option>
          {servers.map(({ name, state }) => (
            <option key={name} value={name}>
              {name} ({stateWords(state)})
            </option>
          ))}
        </select>
      </div>
      {chosen !== undefined && <ServerLine server={chosen} {...doing} />}
    </div>
  );
}

interface ServerLineProps extends Pick<ServerChoiceProps, "onRestart" | "onStop" | "onShow"> {
  readonly server: Server;
}

function ServerLine({ server, onRestart, onStop, onShow }: ServerLineProps) {
  const { name, command, state, reason, stderr = [] } = server;
  const { transport, protocolVersion = "" } = server;
  return (
    <div className={`server-line server-${state}`}>
      <p>
        <Icon name={stateIcon(state)} spin={state === "starting"} />
        <span>{reason === undefined || reason === "" ? stateWords(state) : reason}</span>
        <span className="server-ways">
          {(state === "failed" || state === "running") && (
            <button type="button" className="link" onClick={() => onRestart(name)}>
              {l10n.t("Restart Server")}
            </button>
          )}
          {(state === "starting" || state === "running") && (
            <button type="button" className="link" onClick={() => onStop(name)}>
              {l10n.t("Stop Server")}
            </button>
          )}
          <button type="button" className="link" onClick={() => onShow(name)}>
            {state === "failed" ? l10n.t("Why?") : l10n.t("Details")}
          </button>
        </span>
      </p>
      <p className="muted">
        {transportWords(transport)}
        {protocolVersion !== "" && `, MCP ${protocolVersion}`}
      </p>
      {state === "failed" && (
        <>
          <p className="muted server-command">{command}</p>
          {stderr.length > 0 && (
            <Disclosure
              keep={`stderr:${name}`}
              summary={l10n.t("Latest output on stderr")}
              initiallyOpen
            >
              <Verbatim text={stderr.join("\n")} />
            </Disclosure>
          )}
        </>
      )}
    </div>
  );
}
