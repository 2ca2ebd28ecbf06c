import type { Server, ServerCounts } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useEffect } from "react";
import { brief } from "../../lib/brief.ts";
import { visible } from "../../lib/visible.ts";
import { type Offers, problemsOf } from "../../store/offers.ts";
import type { Actions } from "../../store/session.ts";
import { Disclosure } from "../ui/Disclosure.tsx";
import { Refusal } from "../ui/Refusal.tsx";
import { ServerIcon } from "../ui/ServerIcon.tsx";
import { ListProblems } from "./ListProblems.tsx";
import { Part } from "./Part.tsx";
import { offeredCounts } from "./ServerItem.tsx";
import { kindWords } from "./serverWords.ts";

export interface ServerOffersProps {
  readonly server: Server;
  readonly offers: Offers | undefined;
  readonly counts: ServerCounts | undefined;
  readonly onList: Actions["listOffers"];
}

const kinds = ["tools", "resources", "prompts"] as const;

/** The server's offers. Each list is loaded when it is opened. */
export function ServerOffers({ server, offers, counts, onList }: ServerOffersProps) {
  const known = offeredCounts(counts, offers);
  return (
    <Part heading={l10n.t("Offers")}>
      {kinds.map((kind) => (
        <Disclosure
          key={kind}
          keep={`server-offers:${kind}:${server.name}`}
          summary={
            known[kind] === undefined ? kindWords(kind) : `${kindWords(kind)} (${known[kind]})`
          }
        >
          <OfferList {...{ server, kind, onList }} list={offers?.[kind]} />
        </Disclosure>
      ))}
    </Part>
  );
}

/** The most items to show. */
const most = 200;

interface OfferListProps extends Pick<ServerOffersProps, "server" | "onList"> {
  readonly kind: (typeof kinds)[number];
  readonly list: Offers[(typeof kinds)[number]];
}

/** One list of a server's offers. Loading it would start the server, so it waits for a server that is not running. */
function OfferList({ server: { name, state }, kind, list, onList }: OfferListProps) {
  const unlisted = state === "running" && list === undefined;
  useEffect(() => {
    if (!unlisted) return;
    // Loading continues after this is closed.
    onList(name, [kind], new AbortController().signal);
  }, [unlisted, name, kind, onList]);
  if (list === undefined) {
    return (
      <p className="muted">
        {unlisted ? l10n.t("Reading…") : l10n.t("Listed when the server is running.")}
      </p>
    );
  }
  switch (list.state) {
    case "loading":
      return <p className="muted">{l10n.t("Reading…")}</p>;
    case "failed":
      return <Refusal message={list.message} />;
    default: {
      const items: readonly Offer[] = list.items;
      const problems = <ListProblems problems={problemsOf(list)} />;
      if (items.length === 0) {
        return (
          <>
            {problems}
            <p className="muted">{l10n.t("None.")}</p>
          </>
        );
      }
      return (
        <>
          {problems}
          <ul className="server-offers">
            {items.slice(0, most).map(({ name: own, title = "", description = "", uri }) => (
              <li key={uri ?? own}>
                <ServerIcon serverName={name} list={kind} item={uri ?? own} />
                <strong className="name">{visible(own)}</strong>
                {title !== "" && title !== own && <span> {brief(title)}</span>}
                {description !== "" && <span className="muted"> {brief(description)}</span>}
              </li>
            ))}
            {items.length > most && (
              <li className="muted">{l10n.t("And {0} more.", items.length - most)}</li>
            )}
          </ul>
        </>
      );
    }
  }
}

/** The common members of a tool, a resource and a prompt. */
interface Offer {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly uri?: string;
}
