import type { AppNetwork as Decision } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { filled, listed } from "../../lib/l10n.ts";
import { visible } from "../../lib/visible.ts";
import { useClickGuard } from "../ask/useClickGuard.ts";

export interface AppNetworkProps {
  readonly serverName: string;
  readonly domains: readonly string[];
  /** Declared domains that no app may have. */
  readonly refused: readonly string[];
  readonly onDecide: (network: Decision) => void;
}

/** Asks whether an app may load from the domains that its server declares. */
export function AppNetwork({ serverName, domains, refused, onDecide }: AppNetworkProps) {
  const ready = useClickGuard("asked");
  const button = (network: Decision) => ({
    type: "button" as const,
    "aria-disabled": !ready,
    onClick: () => {
      if (ready) onDecide(network);
    },
  });
  return (
    <div className="app-network">
      <p>
        {filled(
          l10n.t(
            "{0}'s app wants to load from these addresses. The app can send its content there.",
          ),
          <strong className="name">{visible(serverName)}</strong>,
        )}
      </p>
      <ul>
        {domains.map((domain) => (
          <li key={domain} className="name">
            {visible(domain)}
          </li>
        ))}
      </ul>
      {refused.length > 0 && (
        <p className="muted">
          {l10n.t("No app may load from {0}.", listed(refused.slice(0, 5).map(visible)))}
        </p>
      )}
      <div className="actions">
        <button className="primary small" {...button("allow")}>
          {l10n.t("Allow")}
        </button>
        <button className="secondary small" {...button("without")}>
          {l10n.t("Show Without")}
        </button>
      </div>
    </div>
  );
}
