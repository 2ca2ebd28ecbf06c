import type { Server, ServerCounts } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { brief } from "../../lib/brief.ts";
import { plural } from "../../lib/l10n.ts";
import { visible } from "../../lib/visible.ts";
import type { Offers } from "../../store/offers.ts";
import { ServerIcon } from "../ui/ServerIcon.tsx";
import { ServerState } from "./ServerState.tsx";
import { transportWords } from "./serverWords.ts";

export interface ServerItemProps {
  readonly server: Server;
  /** Its offers, as far as they are known. */
  readonly counts: ServerCounts | undefined;
  readonly offers: Offers | undefined;
}

/** A server in the list: its state, its transport, and the number of its offers. */
export function ServerItem({ server, counts, offers }: ServerItemProps) {
  const { name, state, transport, protocolVersion = "", reason = "", blocked = "" } = server;
  const { tools, resources, prompts } = offeredCounts(counts, offers);
  const facts = [
    transportWords(transport),
    ...(protocolVersion === "" ? [] : [`MCP ${protocolVersion}`]),
    ...(tools === undefined ? [] : [plural(tools, l10n.t("1 tool"), l10n.t("{0} tools"))]),
    ...(resources === undefined || resources === 0
      ? []
      : [plural(resources, l10n.t("1 resource"), l10n.t("{0} resources"))]),
    ...(prompts === undefined || prompts === 0
      ? []
      : [plural(prompts, l10n.t("1 prompt"), l10n.t("{0} prompts"))]),
  ];
  const says = blocked || (state === "failed" || state === "starting" ? reason : "");
  return (
    <>
      <span className="mcp-task-line">
        <strong className="task-line-title name">
          <ServerIcon serverName={name} />
          {visible(name)}
        </strong>
        <ServerState state={state} blocked={blocked !== ""} />
      </span>
      <span className="server-item-more muted">{facts.join(", ")}</span>
      {says !== "" && <span className="server-item-more mcp-task-says">{brief(says)}</span>}
    </>
  );
}

/** The number of a server's offers. Without other data, the panel's own lists count. */
export function offeredCounts(
  counts: ServerCounts | undefined,
  offers: Offers | undefined,
): ServerCounts {
  const of = (kind: "tools" | "resources" | "prompts") => {
    const list = offers?.[kind];
    const n = list?.state === "ready" ? list.items.length : counts?.[kind];
    return n === undefined ? {} : { [kind]: n };
  };
  return { ...of("tools"), ...of("resources"), ...of("prompts") };
}
