import type { Notice, UnavailableServer } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { visible } from "../../lib/visible.ts";
import type { Actions } from "../../store/session.ts";
import { Disclosure } from "../ui/Disclosure.tsx";
import { Icon } from "../ui/Icon.tsx";

export interface UnavailableServersProps {
  readonly notice: Notice;
  readonly servers: readonly UnavailableServer[];
  readonly actions: Pick<Actions, "reveal">;
  /** Asks the model again, with the servers that have answered since. Absent if the conversation has gone on. */
  readonly onAskAgain?: (() => void) | undefined;
  /** Names the notice in the view's state; unique in the panel. */
  readonly keep: string;
}

/** Says in one line that servers were not available to the model. The reasons of several are folded. */
export function UnavailableServers(props: UnavailableServersProps) {
  const { notice, servers, actions, keep, onAskAgain } = props;
  const [first] = servers;
  const showAll = () =>
    actions.reveal({
      kind: "servers",
      ...(servers.length === 1 && first !== undefined && { serverName: first.serverName }),
    });
  return (
    <div className={`notice notice-${notice.level} unavailable`}>
      <Icon name={notice.level} />
      {servers.length === 1 ? (
        <span>{visible(notice.text)}</span>
      ) : (
        <Disclosure keep={`${keep}:unavailable`} summary={visible(notice.text)}>
          <ul>
            {servers.map(({ serverName, reason }) => (
              <li key={serverName}>
                <button
                  type="button"
                  className="link name"
                  onClick={() => actions.reveal({ kind: "servers", serverName })}
                >
                  {visible(serverName)}
                </button>
                {": "}
                {visible(reason)}
              </li>
            ))}
          </ul>
        </Disclosure>
      )}
      {onAskAgain !== undefined && (
        <button type="button" className="link" onClick={onAskAgain}>
          {l10n.t("Ask Again")}
        </button>
      )}
      <button type="button" className="link" onClick={showAll}>
        {l10n.t("Details")}
      </button>
    </div>
  );
}
