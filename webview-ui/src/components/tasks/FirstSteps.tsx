import * as l10n from "@vscode/l10n";
import { modelsFor } from "../../store/servers.ts";
import type { Actions } from "../../store/session.ts";
import type { State } from "../../store/state.ts";
import { defaultPrompts, Suggestions } from "./Suggestions.tsx";

export interface FirstStepsProps {
  readonly state: Pick<State, "servers" | "models" | "prompts" | "imports" | "setsUp">;
  readonly actions: Actions;
}

/**
 * What a person can do in an empty conversation. Messages are suggested only if there is a model and a server for them.
 * Otherwise the steps that lead there come first, and the example server, which needs neither.
 */
export function FirstSteps({ state, actions }: FirstStepsProps) {
  const { servers, imports, setsUp } = state;
  const prompts = promptsOf(state);
  if (servers === undefined || prompts === undefined) return null;
  const noServer = servers.length === 0;
  const noModel = prompts.length === 0;
  return (
    <div className="begin">
      {!noServer && !noModel && (
        <>
          <p>{l10n.t("Type a task below, or try one of these:")}</p>
          <Suggestions prompts={prompts} onChoose={(text) => void actions.sendChat({ text })} />
        </>
      )}
      {(noServer || noModel) && (
        <section className="first-steps" aria-label={l10n.t("First steps")}>
          {noServer && (
            <>
              <p>{l10n.t("Add an MCP server, for this workspace or for all workspaces.")}</p>
              <div className="actions">
                <button
                  type="button"
                  className="primary"
                  onClick={() => actions.openConfiguration({})}
                >
                  {l10n.t("Open MCP Configuration")}
                </button>
                {imports && (
                  <button type="button" className="secondary" onClick={actions.importServers}>
                    {l10n.t("Import from Other Programs…")}
                  </button>
                )}
              </div>
            </>
          )}
          {noModel && setsUp && (
            <>
              <p>{l10n.t("No model is set up yet. You need one to type a task.")}</p>
              <div className="actions">
                <button
                  type="button"
                  className={noServer ? "secondary" : "primary"}
                  onClick={actions.chooseModel}
                >
                  {l10n.t("Choose a Model…")}
                </button>
                <button type="button" className="secondary" onClick={actions.setModelApiKey}>
                  {l10n.t("Set an API Key…")}
                </button>
              </div>
            </>
          )}
          <p>{l10n.t("See a question first. You need no model and no network.")}</p>
          <div className="actions">
            <button type="button" className="secondary" onClick={actions.tryExampleServer}>
              {l10n.t("Try the Example Server")}
            </button>
          </div>
          {setsUp && (
            <button type="button" className="link" onClick={actions.openWalkthrough}>
              {l10n.t("Open Walkthrough")}
            </button>
          )}
        </section>
      )}
    </div>
  );
}

/**
 * Returns suggestions for a first message. They need a model that understands them, which the demo script does not. A
 * host that provides suggestions knows that they work. Undefined until the models are known.
 */
function promptsOf(state: FirstStepsProps["state"]): readonly string[] | undefined {
  if (state.prompts !== undefined) return state.prompts;
  const usable = modelsFor(state, undefined)
    .get("")
    ?.models.some(({ provider }) => provider !== "demo");
  if (usable === undefined) return undefined;
  return usable ? defaultPrompts() : [];
}
