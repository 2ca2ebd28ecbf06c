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
  const servers = useContext(ServersContext);
  if (servers === undefined) return null;
  const server = servers.find(({ name }) => name === serverName);
  if (server === undefined) return <p className="muted">{l10n.t("no longer configured")}</p>;
  const { source, command, transport } = server;
  const fileless = withoutFile(source);
  return (
    <div className="asking-server">
      <Disclosure
        keep={`server:${askId}`}
        summary={
          <span className="muted">
            {fileless ?? l10n.t("configured in {0}", visible(nameOf(source)))}
          </span>
        }
      >
        <dl className="muted">
          {fileless === undefined && (
            <>
              <dt>{l10n.t("File")}</dt>
              <dd dir="ltr">{visible(source)}</dd>
            </>
          )}
          <dt>{transport === "stdio" ? l10n.t("Command") : "URL"}</dt>
          <dd dir="ltr">{visible(command)}</dd>
        </dl>
      </Disclosure>
    </div>
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
