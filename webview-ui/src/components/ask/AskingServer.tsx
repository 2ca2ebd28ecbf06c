import type { Server } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useContext } from "react";
import { visible } from "../../lib/visible.ts";
import { ServersContext } from "../../store/contexts.ts";
import { Disclosure } from "../ui/Disclosure.tsx";

export interface AskingServerProps {
  readonly askId: string;
  readonly serverName: string;
}

/**
 * Identifies a server beyond its name: the place of its configuration, and its program or URL. None of this comes from the
 * server, so it cannot pass for another.
 */
export function AskingServer({ askId, serverName }: AskingServerProps) {
  const { server, place } = useAskingServer(serverName);
  if (place === undefined) return null;
  return server === undefined ? (
    <p className="muted">{place}</p>
  ) : (
    <Disclosure keep={`server:${askId}`} summary={<span className="muted">{place}</span>}>
      <ServerFacts server={server} />
    </Disclosure>
  );
}

/** A configured server, and the place of its configuration in words. */
export interface KnownServer {
  /** Undefined if it is not configured, or not known yet. */
  readonly server: Server | undefined;
  /** Undefined if it is not known yet. */
  readonly place: string | undefined;
}

export function useAskingServer(serverName: string): KnownServer {
  const servers = useContext(ServersContext);
  const server = servers?.find(({ name }) => name === serverName);
  if (server !== undefined) {
    const { source } = server;
    const place = withoutFile(source) ?? l10n.t("configured in {0}", visible(nameOf(source)));
    return { server, place };
  }
  return {
    server: undefined,
    place: servers === undefined ? undefined : l10n.t("no longer configured"),
  };
}

/** The file that configures a server, and its program or URL. */
export function ServerFacts({
  server: { source, command, transport },
}: {
  readonly server: Server;
}) {
  return (
    <dl className="server-facts muted">
      {withoutFile(source) === undefined && (
        <>
          <dt>{l10n.t("File")}</dt>
          <dd dir="ltr">{visible(source)}</dd>
        </>
      )}
      <dt>{transport === "stdio" ? l10n.t("Command") : "URL"}</dt>
      <dd dir="ltr">{visible(command)}</dd>
    </dl>
  );
}

/** The source of a server that no file configures. */
function withoutFile(source: string): string | undefined {
  if (source === "settings") return l10n.t("configured in your settings");
  return source === "built in" ? l10n.t("built into Assent") : undefined;
}

/** A short form of a file's path: its folder and its name. */
function nameOf(path: string): string {
  return path.split(/[\\/]/).slice(-2).join("/");
}
