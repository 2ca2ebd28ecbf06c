import type { ConfigProblem, Server } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useEffect, useRef } from "react";
import { visible } from "../../lib/visible.ts";
import type { Offers } from "../../store/offers.ts";
import type { Inspections } from "../../store/servers.ts";
import { Page } from "../ui/Page.tsx";
import { ServerItem } from "./ServerItem.tsx";
import { ServerPage, type ServerPageProps } from "./ServerPage.tsx";

export interface ServersProps extends Omit<ServerPageProps, "server" | "inspection" | "offers"> {
  /** Undefined until they were listed. */
  readonly servers: readonly Server[] | undefined;
  readonly problems: readonly ConfigProblem[];
  readonly inspections: Inspections;
  readonly offers: ReadonlyMap<string, Offers>;
  /** The server of the page; undefined for the list. */
  readonly serverName: string | undefined;
  /** The server of the page that the person went back from. */
  readonly left: string | undefined;
  readonly onShow: (serverName: string) => void;
}

/** The list of servers, and the page of one. */
export function Servers(props: ServersProps) {
  const { servers, problems, inspections, offers, serverName, left, onShow, ...page } = props;
  const server = servers?.find(({ name }) => name === serverName);
  if (server === undefined) {
    return (
      <ServerList
        {...{ servers, problems, inspections, offers, left }}
        missing={servers === undefined ? undefined : serverName}
        onChoose={onShow}
        onConfigure={() => page.actions.openConfiguration({})}
        onBack={page.onBack}
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
    />
  );
}

interface ServerListProps
  extends Pick<
    ServersProps,
    "servers" | "problems" | "inspections" | "offers" | "left" | "onBack"
  > {
  /** The requested server, if it is not configured. */
  readonly missing: string | undefined;
  readonly onChoose: (serverName: string) => void;
  readonly onConfigure: () => void;
}

function ServerList(props: ServerListProps) {
  const { servers, problems, inspections, offers, left, missing } = props;
  const { onChoose, onConfigure, onBack } = props;
  const from = useRef<HTMLButtonElement>(null);
  // The heading has the focus at first. Leaving a page returns the focus to its server.
  useEffect(() => from.current?.focus(), []);
  return (
    <Page
      heading={l10n.t("Servers")}
      busy={servers === undefined}
      failure={undefined}
      onRetry={() => {}}
      onBack={onBack}
    >
      {missing !== undefined && (
        <p className="muted">
          {l10n.t("The server “{0}” is no longer configured.", visible(missing))}
        </p>
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
    </Page>
  );
}
