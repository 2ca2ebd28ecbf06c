import type { SetupCopy, SetupServer } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { listed } from "../../lib/l10n.ts";
import { visible } from "../../lib/visible.ts";
import { Icon } from "../ui/Icon.tsx";
import { Tick } from "../ui/Tick.tsx";

export interface SetupServersProps {
  readonly servers: readonly SetupServer[];
  /** The names of the servers that stay as they are. */
  readonly left: readonly string[];
  readonly onChoose: (name: string, chosen: boolean) => void;
}

/** The servers of other programs, with what setup knows of each. */
export function SetupServers({ servers, left, onChoose }: SetupServersProps) {
  if (servers.length === 0) return null;
  return (
    <section className="setup-servers" aria-label={l10n.t("Servers")}>
      <h3>{l10n.t("Servers")}</h3>
      <ul>
        {servers.map((server) => (
          <li key={server.name}>
            <Server server={server} chosen={isChosen(server, left)} onChoose={onChoose} />
          </li>
        ))}
      </ul>
    </section>
  );
}

interface ServerProps {
  readonly server: SetupServer;
  readonly chosen: boolean;
  readonly onChoose: (name: string, chosen: boolean) => void;
}

function Server({ server, chosen, onChoose }: ServerProps) {
  const { name, runs, copies = [], hosts = [], fixed = false } = server;
  return (
    <>
      <Tick checked={chosen} disabled={fixed} onTick={(checked) => onChoose(name, checked)}>
        <strong className="name">{visible(name)}</strong>
      </Tick>
      <div className="setup-server">
        <code>{visible(runs)}</code>
        <dl className="values">
          <dt>{l10n.t("Configured in")}</dt>
          <dd>{listed(copies.map((copy) => placeOf(copy, name)))}</dd>
          <dt>{l10n.t("Through Assent in")}</dt>
          <dd>{hosts.length === 0 ? l10n.t("none") : listed(hosts)}</dd>
        </dl>
        {notesOf(server).map((note) => (
          <p key={note} className="setup-note">
            <Icon name="warning" />
            <span>{visible(note)}</span>
          </p>
        ))}
      </div>
    </>
  );
}

/** Reports whether a server's box has a tick. Without a choice, it says whether some program uses Assent. */
function isChosen({ name, fixed, hosts = [] }: SetupServer, left: readonly string[]): boolean {
  return fixed ? hosts.length > 0 : !left.includes(name);
}

/** The place of a server's configuration, in words. */
function placeOf(copy: SetupCopy, serverName: string): string {
  const host = copy.folder === undefined ? copy.host : l10n.t("{0} (project)", copy.host);
  if (copy.name === serverName) return host;
  return l10n.t('{0} as "{1}"', host, visible(copy.name));
}

/** What the person should know before they agree. */
function notesOf({ copies = [], differs = [], secrets = [], warnings = [] }: SetupServer) {
  const first = copies[0]?.name ?? "";
  return [
    ...(differs.length > 0
      ? [
          l10n.t(
            'A different server with the name "{0}". It differs in: {1}.',
            first,
            listed(differs),
          ),
        ]
      : []),
    ...(secrets.length > 0
      ? [l10n.t("Probably has secrets in clear text: {0}.", listed(secrets))]
      : []),
    ...warnings,
  ];
}
