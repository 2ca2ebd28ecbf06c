import type { Model, PolicyEntry, Task } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { when } from "../../lib/format.ts";
import { filled } from "../../lib/l10n.ts";
import { visible } from "../../lib/visible.ts";
import type { Actions } from "../../store/session.ts";
import { GrantItem } from "../grants/GrantItem.tsx";
import { isAlive } from "../grants/grantWords.ts";
import { ActButton } from "../ui/ActButton.tsx";
import { entryWords, nameOf, serverWords, usedWords } from "./policyWords.ts";

/** The actions that change entries. */
export type PolicyItemActions = Pick<
  Actions,
  | "revokeGrant"
  | "removeToolRule"
  | "addAskFirst"
  | "removeAskFirst"
  | "askAgain"
  | "openConfiguration"
>;

export interface PolicyItemProps {
  readonly entry: PolicyEntry;
  /** The models that the server may use, for their names, as far as they are known. */
  readonly models: readonly Model[] | undefined;
  /** The tasks, for the titles of those that an entry is limited to. */
  readonly tasks: readonly Task[];
  readonly now: number;
  readonly actions: PolicyItemActions;
  /** The entry ended, and its element with the focus is removed. */
  readonly onEnded: () => void;
}

/** An entry of the policy: its subject, effect, source and use, and a button to change it. */
export function PolicyItem(props: PolicyItemProps) {
  const { entry, models, tasks, now } = props;
  if (entry.type === "grant") {
    return (
      <>
        <GrantItem grant={entry.grant} used={entry.used} {...{ models, now }} />
        <Asleep entry={entry} />
        {isAlive(entry.grant, now) && <EntryAction {...props} />}
      </>
    );
  }
  return (
    <>
      <p className="grant-head">
        <span>
          <strong className="name">{nameOf(entry)}</strong>{" "}
          <span className="muted">{serverWords(entry)}</span>
        </span>
      </p>
      <p>{entryWords(entry, tasks)}</p>
      <Asleep entry={entry} />
      <p className="muted">
        <PolicySource entry={entry} /> {usedWords(entry.used, entry)}
      </p>
      <EntryAction {...props} />
    </>
  );
}

/** Why the organisation does not let an entry have effect. */
function Asleep({ entry: { asleep = "" } }: Pick<PolicyItemProps, "entry">) {
  if (asleep === "") return null;
  return <p>{filled(l10n.t("It has no effect now. {0}"), visible(asleep))}</p>;
}

/** Where an entry comes from. */
export function PolicySource({ entry }: Pick<PolicyItemProps, "entry">) {
  const { by, at, setting } = entry;
  if (setting !== undefined) {
    const isDefault = entry.type === "limit" && entry.default === true;
    const words = isDefault
      ? l10n.t("The default of the setting {0}.")
      : l10n.t("From the setting {0}.");
    return filled(words, <code>{setting}</code>);
  }
  if (by === undefined || at === undefined) return null;
  return filled(
    l10n.t("Decided in {0}, {1}."),
    visible(by),
    <time dateTime={new Date(at).toISOString()}>{when(at)}</time>,
  );
}

/** The button that changes an entry. */
function EntryAction({ entry, actions, onEnded }: PolicyItemProps) {
  const { serverName = "", setting = "" } = entry;
  switch (entry.type) {
    case "grant":
      return (
        <ActButton
          text={l10n.t("Revoke {0}")}
          of={l10n.t("the grant of {0}", visible(serverName))}
          onAct={async () => {
            await actions.revokeGrant(entry.grant.id);
            onEnded();
          }}
        />
      );
    case "toolRule":
      return (
        <ActButton
          text={l10n.t("Revoke {0}")}
          of={l10n.t("the answer about {0}", nameOf(entry))}
          onAct={async () => {
            await actions.removeToolRule(entry.ruleId);
            onEnded();
          }}
        />
      );
    case "askFirst":
      return (
        <ActButton
          text={l10n.t("Remove {0}")}
          of={l10n.t("the rule about {0}", nameOf(entry))}
          onAct={async () => {
            await actions.removeAskFirst(entry.ruleId);
            onEnded();
          }}
        />
      );
    case "declinedServer":
      return (
        <ActButton
          text={l10n.t("Ask Me Again {0}")}
          of={l10n.t("what {0} asks", visible(serverName))}
          onAct={async () => {
            await actions.askAgain(serverName);
            onEnded();
          }}
        />
      );
    default:
      return <OpenSetting setting={setting} actions={actions} />;
  }
}

export interface OpenSettingProps {
  readonly setting: string;
  readonly actions: Pick<Actions, "openConfiguration">;
}

/** A link to a setting. */
export function OpenSetting({ setting, actions }: OpenSettingProps) {
  return (
    <ActButton
      text={l10n.t("Open Setting {0}")}
      of={setting}
      onAct={async () => actions.openConfiguration({ source: "settings", setting })}
    />
  );
}
