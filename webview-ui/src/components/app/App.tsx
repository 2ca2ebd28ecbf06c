import * as l10n from "@vscode/l10n";
import { useSyncExternalStore } from "react";
import { brief } from "../../lib/brief.ts";
import { CheckContext } from "../form/useCheck.ts";
import { Banner } from "../ui/Banner.tsx";
import { Boundary } from "../ui/Boundary.tsx";
import { Panel, type PanelProps } from "./Panel.tsx";
import { ProvideIcons } from "./ProvideIcons.tsx";

/** The whole panel, or the reason why it cannot be drawn. */
export function App(props: PanelProps) {
  const { subscribe, getState, actions } = props.session;
  const taskId = useSyncExternalStore(subscribe, () => getState().conversation?.taskId);
  return (
    <Boundary
      subject={taskId}
      instead={(problem, retry) => (
        <Banner
          level="error"
          actions={
            <>
              <button type="button" className="secondary" onClick={retry}>
                {l10n.t("Try Again")}
              </button>
              <button type="button" className="secondary" onClick={() => actions.newTask()}>
                {l10n.t("New Task")}
              </button>
            </>
          }
        >
          {l10n.t("The panel cannot be drawn: {0}", brief(problem))}
        </Banner>
      )}
    >
      <CheckContext value={actions.checkForm}>
        <ProvideIcons session={props.session}>
          <Panel {...props} />
        </ProvideIcons>
      </CheckContext>
    </Boundary>
  );
}
