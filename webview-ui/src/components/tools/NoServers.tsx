import * as l10n from "@vscode/l10n";

export interface NoServersProps {
  readonly onConfigure: () => void;
  /** Undefined if the host cannot import. */
  readonly onImport: (() => void) | undefined;
}

/** Ways to add a server, shown while there is none. */
export function NoServers({ onConfigure, onImport }: NoServersProps) {
  return (
    <section className="no-servers" aria-label={l10n.t("No servers")}>
      <p>
        {l10n.t(
          "No MCP server is configured yet. Add one to .vscode/mcp.json or to your settings.",
        )}
      </p>
      <div className="actions">
        <button type="button" className="primary" onClick={onConfigure}>
          {l10n.t("Open MCP Configuration")}
        </button>
        {onImport !== undefined && (
          <button type="button" className="secondary" onClick={onImport}>
            {l10n.t("Import from Other Programs…")}
          </button>
        )}
      </div>
    </section>
  );
}
