import * as l10n from "@vscode/l10n";
import type { ReactNode } from "react";
import { visible } from "../../lib/visible.ts";
import { Disclosure } from "../ui/Disclosure.tsx";
import { type KnownServer, ServerFacts, useAskingServer } from "./AskingServer.tsx";
import { during, type Occasion } from "./origin.ts";

export interface AskDetailsProps extends Occasion {
  readonly askId: string;
  /** An agent's host asks, and no server. */
  readonly ofHost: boolean;
  readonly serverName: string;
  /** The raw name of a tool. */
  readonly rawName?: string | undefined;
  /** Drawn at the end. */
  readonly more: ReactNode;
}

/** The end of a card: one line with the call and the place of the configuration. It opens to the rest. */
export function AskDetails(props: AskDetailsProps) {
  const { askId, serverName, ofHost, rawName, more } = props;
  const known = useAskingServer(serverName);
  const { server, place } = ofHost ? none : known;
  const occasion = during(props);
  const named = rawName === undefined ? undefined : visible(rawName);
  const line = [occasion ?? named, place].filter((part) => part !== undefined).join(" · ");
  return (
    <div className="ask-details">
      <Disclosure
        keep={`details:${askId}`}
        summary={<span className="muted">{line === "" ? l10n.t("Details") : line}</span>}
      >
        {occasion !== undefined && <p className="muted">{occasion}</p>}
        {named !== undefined && <p className="muted name">{named}</p>}
        {server !== undefined && <ServerFacts server={server} />}
        {more}
      </Disclosure>
    </div>
  );
}

const none: KnownServer = { server: undefined, place: undefined };
