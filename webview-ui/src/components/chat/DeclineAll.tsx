import * as l10n from "@vscode/l10n";
export interface DeclineAllProps {
  readonly serverName: string;
  readonly ready: boolean;
  readonly onClick: () => void;
}

/** The way out for whoever has enough of a server's questions. */
export function DeclineAll({ serverName, ready, onClick }: DeclineAllProps) {
  return (
    <button type="button" className="link" aria-disabled={!ready} onClick={onClick}>
      {l10n.t("Decline Everything From {0}", serverName)}
    </button>
  );
}
