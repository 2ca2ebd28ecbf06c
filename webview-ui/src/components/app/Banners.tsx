import type { ConfigProblem } from "@assent/protocol";
import type { SidecarStatus } from "@assent/protocol/host";
import * as l10n from "@vscode/l10n";
import { useEffect, useState } from "react";
import { elapsed } from "../../lib/format.ts";
import { plural } from "../../lib/l10n.ts";
import { unreachable } from "../../lib/unreachable.ts";
import type { Link } from "../../store/host.ts";
import type { Actions } from "../../store/session.ts";
import type { State } from "../../store/state.ts";
import { Banner } from "../ui/Banner.tsx";
import { Disclosure } from "../ui/Disclosure.tsx";
import { parkedFocus } from "../ui/focus.ts";
import { IconButton } from "../ui/IconButton.tsx";
import { useNow } from "../ui/useNow.ts";
import { ConfirmBanner } from "./ConfirmBanner.tsx";
import { PageBanner } from "./PageBanner.tsx";

export interface BannersProps {
  readonly state: State;
  readonly actions: Actions;
}

/** The banners about the panel itself: its problems, and its requests to the person. */
export function Banners({ state, actions }: BannersProps) {
  const { link, sidecar, confirmations, pages, problems, storageFailure, storageNote, failure } =
    state;
  // One at a time: no button of the next question comes under a pointer that is still pressing.
  const [confirmation] = confirmations;
  return (
    <div className="banners" {...parkedFocus}>
      {link.up ? <SidecarBanner status={sidecar} actions={actions} /> : <LinkBanner link={link} />}
      {confirmation !== undefined && (
        <ConfirmBanner
          key={confirmation.id}
          server={confirmation.server}
          onDecide={(decision) => actions.confirmServer(confirmation.id, decision)}
          onConfigure={actions.openConfiguration}
        />
      )}
      {pages.map((page) => (
        <PageBanner
          key={page.id}
          page={page}
          onDone={(opened) => actions.pageDone(page.id, opened)}
        />
      ))}
      {storageFailure !== undefined && <Banner level="warning">{storageFailure}</Banner>}
      {storageNote !== undefined && !storageNote.dismissed && (
        <Banner
          level="info"
          actions={
            <IconButton
              icon="close"
              label={l10n.t("Dismiss")}
              onClick={actions.dismissStorageNote}
            />
          }
        >
          {storageNote.message}
        </Banner>
      )}
      {problems.length > 0 && <ProblemsBanner problems={problems} actions={actions} />}
      {failure !== undefined && (
        <Banner
          level="error"
          actions={
            <IconButton icon="close" label={l10n.t("Dismiss")} onClick={actions.dismissFailure} />
          }
        >
          {failure}
        </Banner>
      )}
    </div>
  );
}

function LinkBanner({ link }: { readonly link: Extract<Link, { up: false }> }) {
  return (
    <Banner level="warning">
      {l10n.t("The connection to Assent was lost.")} <Countdown to={link} />
    </Banner>
  );
}

function SidecarBanner({
  status,
  actions,
}: {
  readonly status: SidecarStatus;
  readonly actions: Actions;
}) {
  const buttons = (
    <>
      <button type="button" className="secondary" onClick={actions.restartSidecar}>
        {l10n.t("Restart")}
      </button>
      <button type="button" className="secondary" onClick={actions.showLog}>
        {l10n.t("Show Log")}
      </button>
    </>
  );
  switch (status.state) {
    case "running":
      return null;
    case "starting":
      return <Banner level="busy">{l10n.t("Assent is starting…")}</Banner>;
    case "restarting":
      return (
        <Banner level="warning" actions={buttons}>
          {l10n.t("Assent stopped: {0}", status.reason)} <Countdown to={status} />
        </Banner>
      );
    case "failed":
      return (
        <Banner level="error" actions={buttons}>
          {l10n.t("Assent is not running. {0}", status.reason)}
        </Banner>
      );
    default:
      return unreachable(status);
  }
}

/**
 * The seconds until the next try. They restart with each announcement, and must not make the live region around them
 * speak.
 */
function Countdown({ to }: { readonly to: { readonly retryInMs: number } }) {
  const [due, setDue] = useState(() => Date.now() + to.retryInMs);
  useEffect(() => setDue(Date.now() + to.retryInMs), [to]);
  const now = useNow(true);
  return (
    <span aria-hidden="true">
      {due > now ? l10n.t("Retrying in {0}.", elapsed(due - now + 999)) : l10n.t("Trying again…")}
    </span>
  );
}

function ProblemsBanner({
  problems,
  actions,
}: {
  readonly problems: readonly ConfigProblem[];
  readonly actions: Actions;
}) {
  return (
    <Banner level="warning">
      <Disclosure
        keep="config-problems"
        summary={plural(
          problems.length,
          l10n.t("1 problem in the MCP configuration"),
          l10n.t("{0} problems in the MCP configuration"),
        )}
        initiallyOpen={problems.length <= 3}
      >
        <ul className="config-problems">
          {problems.map((problem) => {
            const { source, line = 0, column = 0, message } = problem;
            const position = {
              source,
              ...(line > 0 && { line }),
              ...(column > 0 && { column }),
            };
            return (
              <li key={`${source}:${line}:${column}:${message}`}>
                <button
                  type="button"
                  className="link"
                  onClick={() => actions.openConfiguration(position)}
                >
                  {fileName(source)}
                  {line > 0 && `:${line}`}
                </button>{" "}
                {message}
              </li>
            );
          })}
        </ul>
      </Disclosure>
    </Banner>
  );
}

function fileName(source: string): string {
  return source.split(/[/\\]/).at(-1) || source;
}
