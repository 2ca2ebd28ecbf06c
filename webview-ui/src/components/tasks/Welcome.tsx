import type { Server } from "@assent/protocol";
import type { Actions } from "../../session.ts";
import { NoServers } from "../tools/NoServers.tsx";

export interface WelcomeProps {
  readonly servers: readonly Server[];
  /** The host can import servers. */
  readonly imports: boolean;
  readonly actions: Actions;
}

/** What a person sees who has no task yet: what this is for, and the next step. */
export function Welcome({ servers, imports, actions }: WelcomeProps) {
  return (
    <main className="welcome">
      <h2>Assent lets MCP servers ask</h2>
      <p>
        A tool may need an answer from you, or a completion from a model. Its question appears here,
        in the task that runs the tool, and the server gets exactly what you decide.
      </p>
      {servers.length === 0 ? (
        <NoServers
          onConfigure={() => actions.openConfiguration({})}
          onImport={imports ? actions.importServers : undefined}
        />
      ) : (
        <>
          <p>Choose a server below, and one of its tools. Running it starts your first task.</p>
          <div className="actions">
            <button
              type="button"
              className="secondary"
              onClick={() => actions.reveal({ kind: "servers" })}
            >
              Show Servers
            </button>
          </div>
        </>
      )}
    </main>
  );
}
