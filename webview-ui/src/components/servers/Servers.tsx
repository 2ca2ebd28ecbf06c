import type { ConfigProblem, Server } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useEffect, useRef, useState } from "react";
import type { Offers } from "../../store/offers.ts";
import type { Inspections } from "../../store/servers.ts";
import { ListPanel } from "../ui/ListPanel.tsx";
import { ServerItem } from "./ServerItem.tsx";
import { ServerPage, type ServerPageProps } from "./ServerPage.tsx";

export interface ServersProps
  extends Omit<ServerPageProps, "server" | "inspection" | "offers" | "onBack"> {
  /** Undefined until they were listed. */
  readonly servers: readonly Server[] | undefined;
  readonly problems: readonly ConfigProblem[];
  readonly inspections: Inspections;
  readonly offers: ReadonlyMap<string, Offers>;
  /** The server to show at first; undefined for the list. */
  readonly serverName: string | undefined;
}

/** The list of servers, and the page of one. */
export function Servers(props: ServersProps) {
  const { servers, problems, inspections, offers, serverName, ...page } = props;
  const [shown, setShown] = useState(serverName);
  const [left, setLeft] = useState<string>();
  const server = servers?.find(({ name }) => name === shown);
  if (server === undefined) {
    return (
      <ServerList
        {...{ servers, problems, inspections, offers, left }}
        missing={servers === undefined ? undefined : shown}
        onChoose={setShown}
        onConfigure={() => page.actions.openConfiguration({})}
        onClose={page.onClose}
      />
    );
  }
  return (
    <ServerPage
      key={server.name}
      {...page}
      server={server}
      inspection={inspections.get(server.name)}
      offers={offers.get(server.name)}
      onBack={() => {
        setLeft(server.name);
        setShown(undefined);
      }}
    />
  );
}

interface ServerListProps
  extends Pick<ServersProps, "servers" | "problems" | "inspections" | "offers" | "onClose"> {
  /** The server of the page that the person left. */
  readonly left: string | undefined;
  /** The requested server, if it is not configured. */
  readonly missing: string | undefined;
  readonly onChoose: (serverName: string) => void;
  readonly onConfigure: () => void;
}

function ServerList(props: ServerListProps) {
  const { servers, problems, inspections, offers, left, missing } = props;
  const { onChoose, onConfigure, onClose } = props;
  const from = useRef<HTMLButtonElement>(null);
  // The panel has the focus at first. Leaving a page returns the focus to its server.
  useEffect(() => from.current?.focus(), []);
  return (
    <ListPanel
      heading={l10n.t("Servers")}
      closeLabel={l10n.t("Close the List of Servers")}
      busy={servers === undefined}
      failure={undefined}
      onRetry={() => {}}
      onClose={onClose}
    >
      {missing !== undefined && (
        <p className="muted">{l10n.t("This server is no longer configured.")}</p>
      )}
      {servers?.length === 0 && <p className="muted">{l10n.t("No MCP server is configured.")}</p>}
      <ul>
        {servers?.map((server) => (
          <li key={server.name}>
            <button
              ref={server.name === left ? from : undefined}
              type="button"
              className="task-option"
              onClick={() => onChoose(server.name)}
            >
              <ServerItem
                server={server}
                counts={inspections.get(server.name)?.result?.counts}
                offers={offers.get(server.name)}
              />
            </button>
          </li>
        ))}
      </ul>
      {problems.length > 0 && (
        <p className="muted">
          {l10n.t("Servers with configuration problems (above) are not listed.")}
        </p>
      )}
      <div className="actions">
        <button type="button" className="secondary small" onClick={onConfigure}>
          {l10n.t("Open MCP Configuration")}
        </button>
      </div>
    </ListPanel>
  );
}
