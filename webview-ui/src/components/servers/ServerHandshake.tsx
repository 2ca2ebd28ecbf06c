import type { ServerHandshake as Handshake } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { visible } from "../../lib/visible.ts";
import { Verbatim } from "../content/ContentBlocks.tsx";
import { Disclosure } from "../ui/Disclosure.tsx";
import { Part } from "./Part.tsx";
import { eraWords } from "./serverWords.ts";

export interface ServerHandshakeProps {
  readonly serverName: string;
  readonly handshake: Handshake;
}

/** What the server said about itself in its last handshake. */
export function ServerHandshake({ serverName, handshake }: ServerHandshakeProps) {
  const { era, protocolVersion, name = "", title = "", version = "" } = handshake;
  const { capabilities = [], instructions = "" } = handshake;
  return (
    <Part heading={l10n.t("Server information")}>
      <dl className="values">
        <dt>MCP</dt>
        <dd>
          {protocolVersion} <span className="muted">({eraWords(era)})</span>
        </dd>
        {name !== "" && (
          <>
            <dt>{l10n.t("Name")}</dt>
            <dd>
              {visible(title === "" ? name : `${title} (${name})`)} {visible(version)}
            </dd>
          </>
        )}
        <dt>{l10n.t("Capabilities")}</dt>
        <dd>
          {capabilities.length === 0 ? l10n.t("nothing") : capabilities.map(visible).join(", ")}
        </dd>
      </dl>
      {instructions !== "" && (
        <Disclosure
          keep={`server-instructions:${serverName}`}
          summary={l10n.t("Instructions for a model")}
        >
          <Verbatim text={instructions} />
        </Disclosure>
      )}
    </Part>
  );
}
