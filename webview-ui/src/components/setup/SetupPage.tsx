import type { SetupChoice, SetupPlan } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useEffect, useRef, useState } from "react";
import { listed, plural } from "../../lib/l10n.ts";
import { visible } from "../../lib/visible.ts";
import { messageOf } from "../../link/client.ts";
import type { SetupActions } from "../../store/setup.ts";
import { Disclosure } from "../ui/Disclosure.tsx";
import { Page } from "../ui/Page.tsx";
import { Refusal } from "../ui/Refusal.tsx";
import { Tick } from "../ui/Tick.tsx";
import { useStart } from "../ui/useStart.ts";
import { type Outcome, SetupOutcome } from "./SetupOutcome.tsx";
import { SetupServers } from "./SetupServers.tsx";

export interface SetupPageProps {
  readonly actions: SetupActions;
  readonly onBack: () => void;
}

/** Other programs and their servers: which of them use Assent, what would change, and how to undo it. */
export function SetupPage({ actions, onBack }: SetupPageProps) {
  const [choice, setChoice] = useState<SetupChoice>({});
  const { plan, failure, isReading, readAgain } = usePlan(choice, actions);
  const [keepsSecrets, setKeepsSecrets] = useState(false);
  const [outcome, setOutcome] = useState<Outcome>();
  const said = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (outcome !== undefined) said.current?.focus();
  }, [outcome]);
  const { busy, refusal, start } = useStart(async (doing: "apply" | "restore") => {
    setOutcome(undefined);
    try {
      if (doing === "restore") {
        setOutcome({ type: "restored", result: await actions.restoreSetup() });
      } else if (plan !== undefined) {
        const moveSecrets = plan.secrets !== undefined && !keepsSecrets;
        const result = await actions.applySetup({ choice, planId: plan.id, moveSecrets });
        if (result !== undefined) setOutcome({ type: "applied", result });
      }
    } finally {
      readAgain();
    }
  });
  // Without one there is nothing to choose.
  const hasHosts = (plan?.hosts ?? []).length > 0;
  return (
    <Page
      heading={l10n.t("Set Up Hosts")}
      busy={isReading || busy}
      failure={failure}
      onRetry={readAgain}
      onBack={onBack}
    >
      {plan !== undefined && (
        <div className="setup-page">
          <p className="muted">
            {l10n.t(
              "Hosts are programs that use MCP servers. They can use their servers through Assent, and the servers' questions then wait for you here.",
            )}{" "}
            {hasHosts && l10n.t("Nothing changes before you press Apply.")}
          </p>
          <Choices plan={plan} choice={choice} onChange={setChoice} />
          {hasHosts && (
            <SetupServers
              servers={plan.servers ?? []}
              left={choice.withoutServers ?? []}
              onChoose={(name, chosen) =>
                setChoice({
                  ...choice,
                  withoutServers: without(choice.withoutServers, name, chosen),
                })
              }
            />
          )}
          <Problems plan={plan} />
          {hasHosts && <Changes plan={plan} />}
          {plan.secrets !== undefined && (
            <Tick checked={!keepsSecrets} onTick={(checked) => setKeepsSecrets(!checked)}>
              {plan.secrets === "keychain"
                ? l10n.t("Move the secrets to the system's keychain")
                : l10n.t("Move the secrets to a sealed file, because there is no keychain")}
            </Tick>
          )}
          <div className="actions">
            {hasHosts && (
              <button
                type="button"
                className="primary"
                disabled={busy || isReading || (plan.files ?? []).length === 0}
                onClick={() => start("apply")}
              >
                {l10n.t("Apply")}
              </button>
            )}
            {plan.restorable && (
              <button
                type="button"
                className="secondary"
                disabled={busy}
                onClick={() => start("restore")}
              >
                {l10n.t("Restore All Files")}
              </button>
            )}
          </div>
        </div>
      )}
      {refusal !== undefined && <Refusal message={messageOf(refusal)} />}
      <div ref={said} tabIndex={-1} className="setup-outcome">
        {outcome !== undefined && <SetupOutcome outcome={outcome} />}
      </div>
    </Page>
  );
}

interface ChoicesProps {
  readonly plan: SetupPlan;
  readonly choice: SetupChoice;
  readonly onChange: (choice: SetupChoice) => void;
}

function Choices({ plan, choice, onChange }: ChoicesProps) {
  const { hosts = [], sought = [] } = plan;
  if (hosts.length === 0) {
    return (
      <>
        <p>{l10n.t("No program was found that uses MCP servers.")}</p>
        {sought.length > 0 && (
          <p className="muted">{l10n.t("Assent looks for {0}.", listed(sought))}</p>
        )}
      </>
    );
  }
  return (
    <fieldset className="setup-hosts">
      <legend>{l10n.t("Hosts")}</legend>
      <div className="setup-ticks">
        {hosts.map((name) => (
          <Tick
            key={name}
            checked={!(choice.withoutHosts ?? []).includes(name)}
            onTick={(checked) =>
              onChange({ ...choice, withoutHosts: without(choice.withoutHosts, name, checked) })
            }
          >
            {name}
          </Tick>
        ))}
      </div>
      <Tick checked={choice.share ?? false} onTick={(share) => onChange({ ...choice, share })}>
        {l10n.t("Give each server to all of these hosts")}
      </Tick>
    </fieldset>
  );
}

/** The files that would change. */
function Changes({ plan: { files = [], servers = [], userFile } }: { readonly plan: SetupPlan }) {
  if (files.length === 0) {
    if (servers.length === 0) return null;
    return <p>{l10n.t("There is nothing to change.")}</p>;
  }
  return (
    <Disclosure
      keep="setup-files"
      summary={plural(files.length, l10n.t("1 file changes"), l10n.t("{0} files change"))}
    >
      <Paths paths={files} />
      <p className="muted">{l10n.t("Afterwards, the servers are in {0}.", visible(userFile))}</p>
    </Disclosure>
  );
}

/** The programs that are left alone, and why. */
function Problems({ plan: { problems = [] } }: { readonly plan: SetupPlan }) {
  if (problems.length === 0) return null;
  return (
    <Disclosure
      keep="setup-problems"
      summary={plural(
        problems.length,
        l10n.t("1 thing is left alone"),
        l10n.t("{0} things are left alone"),
      )}
    >
      <ul className="setup-problems">
        {problems.map(({ path, message }) => (
          <li key={`${path} ${message}`}>
            <code>{visible(path)}</code>: {visible(message)}
          </li>
        ))}
      </ul>
    </Disclosure>
  );
}

function Paths({ paths }: { readonly paths: readonly string[] }) {
  return (
    <ul className="setup-paths">
      {paths.map((path) => (
        <li key={path}>
          <code>{visible(path)}</code>
        </li>
      ))}
    </ul>
  );
}

/** Returns the names that stay as they are, after a choice. */
function without(names: readonly string[] = [], name: string, chosen: boolean): string[] {
  const others = names.filter((other) => other !== name);
  return chosen ? others : [...others, name];
}

/** Reads the plan for a choice. Of several readings, the last one counts. */
function usePlan(choice: SetupChoice, { planSetup }: SetupActions) {
  const [plan, setPlan] = useState<SetupPlan>();
  const [failure, setFailure] = useState<string>();
  const [isReading, setIsReading] = useState(true);
  const [times, setTimes] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new number reads the plan again.
  useEffect(() => {
    let isLast = true;
    setIsReading(true);
    const read = async () => {
      try {
        const next = await planSetup(choice);
        if (!isLast) return;
        setPlan(next);
        setFailure(undefined);
      } catch (error) {
        if (isLast) setFailure(messageOf(error));
      }
      if (isLast) setIsReading(false);
    };
    void read();
    return () => {
      isLast = false;
    };
  }, [choice, times, planSetup]);
  return { plan, failure, isReading, readAgain: () => setTimes((before) => before + 1) };
}
