import type { Server } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import type { Actions } from "../../session.ts";
import { Suggestions } from "../composer/Suggestions.tsx";
import { NoServers } from "../tools/NoServers.tsx";

export interface WelcomeProps {
  readonly servers: readonly Server[];
  /** The host can import servers. */
  readonly imports: boolean;
  /** What the person could say first. */
  readonly prompts: readonly string[];
  readonly actions: Actions;
}

/** What a person sees who has no task yet: what this is for, and the next step. */
export function Welcome({ servers, imports, prompts, actions }: WelcomeProps) {
  return (
    <main className="welcome">
      <h2>{l10n.t("Assent lets MCP servers ask")}</h2>
      <p>
        {l10n.t(
          "Talk to a model that uses your servers' tools: it asks you before each call. A tool may need an answer from you, or a completion, itself. Its question appears here, in the task that runs the tool, and the server gets exactly what you decide.",
        )}
      </p>
      {servers.length === 0 ? (
        <NoServers
          onConfigure={() => actions.openConfiguration({})}
          onImport={imports ? actions.importServers : undefined}
        />
      ) : (
        <>
          <p>{l10n.t("Say below what is to be done, or begin with one of these:")}</p>
          <Suggestions prompts={prompts} onChoose={(text) => void actions.sendChat({ text })} />
          <div className="actions">
            <button
              type="button"
              className="secondary"
              onClick={() => actions.reveal({ kind: "servers" })}
            >
              {l10n.t("Show Servers")}
            </button>
          </div>
        </>
      )}
    </main>
  );
}
