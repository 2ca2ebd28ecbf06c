import type {
  PolicyEntry,
  PolicyFixedAnswer,
  PolicyLimit,
  PolicyUse,
  Task,
} from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { brief } from "../../lib/brief.ts";
import { size, taskTitle, when } from "../../lib/format.ts";
import { listed, plural } from "../../lib/l10n.ts";
import { unreachable } from "../../lib/unreachable.ts";
import { visible } from "../../lib/visible.ts";
import { isAlive, termsInWords } from "../grants/grantWords.ts";

/** Reports whether an entry can answer a request now. A limit never can, nor a rule that asks. */
export function isActive(entry: PolicyEntry, now: number): boolean {
  const answers = entry.effect === "approve" || entry.effect === "decline";
  return answers && (entry.type !== "grant" || isAlive(entry.grant, now));
}

/** A key that is unique among the entries of a list. */
export function keyOf(entry: PolicyEntry): string {
  switch (entry.type) {
    case "grant":
      return entry.grant.id;
    case "toolRule":
    case "askFirst":
      return entry.ruleId;
    case "fixedAnswer":
      return JSON.stringify([entry.serverName, entry.toolName, entry.content]);
    case "samplingReview":
      return entry.review;
    case "limit":
      return entry.limit;
    default:
      return `${entry.type} ${entry.serverName}`;
  }
}

/** The requests that an entry applies to. */
export function nameOf(entry: PolicyEntry): string {
  const { serverName, toolName } = entry;
  switch (entry.type) {
    case "toolRule":
      return entry.appDomains === undefined
        ? visible(toolName ?? entry.resourceUri ?? "")
        : l10n.t("Addresses of apps");
    case "fixedAnswer":
      return visible(toolName ?? "");
    case "askFirst":
      return visible(
        entry.command ?? entry.tool ?? l10n.t("Anything outside of the agent's folder"),
      );
    case "readOnlyTools":
      return l10n.t("Tools that change nothing");
    case "samplingReview":
      return l10n.t("Answers of models");
    default:
      return serverName === undefined ? l10n.t("Other servers") : visible(serverName);
  }
}

/** The server, if the name does not include it. */
export function serverWords({ type, serverName }: PolicyEntry): string {
  if (type === "readOnlyTools") return l10n.t("of all servers");
  if (type === "samplingReview") return l10n.t("to all servers");
  const isOfTool = type === "toolRule" || type === "fixedAnswer";
  return isOfTool ? l10n.t("of {0}", visible(serverName ?? "")) : "";
}

/** The effect of an entry, in a sentence. */
export function entryWords(entry: PolicyEntry, tasks: readonly Task[]): string {
  switch (entry.type) {
    case "grant":
      return termsInWords(entry.grant);
    case "toolRule":
      return ruleWords(entry, tasks);
    case "askFirst":
      return l10n.t(
        "An agent asks you first, even if a model or a rule of the agent would allow it.",
      );
    case "declinedServer":
      return l10n.t(
        "You declined everything from {0} in {1}, until Assent starts again.",
        visible(entry.serverName ?? ""),
        visible(entry.by ?? ""),
      );
    case "fixedAnswer":
      return l10n.t("Its form is answered with {0}.", contentWords(entry));
    case "readOnlyTools":
      return l10n.t("A model may use each tool that is read-only, according to its server.");
    case "samplingReview":
      return entry.review === "never"
        ? l10n.t("A server gets each answer of a model before you see it.")
        : l10n.t(
            "You review the first answer for a server. The server gets later answers at once.",
          );
    case "allowedModels":
      return modelsWords(entry.models);
    case "limit":
      return limitWords(entry);
    default:
      return unreachable(entry);
  }
}

function ruleWords(
  { remember, toolName, taskId, appDomains }: PolicyEntry & { type: "toolRule" },
  tasks: readonly Task[],
): string {
  if (appDomains !== undefined) {
    const domains = listed(appDomains.map(visible));
    return remember === "never"
      ? l10n.t("Apps that want to load from {0} are shown without.", domains)
      : l10n.t("Apps may load from {0}.", domains);
  }
  const task = tasks.find(({ id }) => id === taskId);
  switch (remember) {
    case "task":
      return task === undefined
        ? l10n.t("Approved in one task, until it is closed.")
        : l10n.t("Approved in “{0}”, until that is closed.", taskTitle(task));
    case "always":
      return toolName === undefined
        ? l10n.t("Always approved.")
        : l10n.t("Always approved, until its server changes its description.");
    case "never":
      return l10n.t("Never: the model is told that you declined.");
    default:
      return unreachable(remember);
  }
}

function contentWords({ content }: PolicyFixedAnswer): string {
  if (typeof content !== "object" || content === null) return brief(JSON.stringify(content));
  const members = Object.entries(content);
  return brief(listed(members.map(([name, value]) => `${name}: ${JSON.stringify(value)}`)));
}

function modelsWords(models: readonly string[] = []): string {
  if (models.length === 0) return l10n.t("No model may answer.");
  return l10n.t("Only these models may answer: {0}.", models.map(visible).join(", "));
}

function limitWords({ limit, max }: PolicyLimit): string {
  switch (limit) {
    case "maxOpen":
      return plural(
        max,
        l10n.t("At most 1 form or page of a server waits for you."),
        l10n.t("At most {0} forms and pages of a server wait for you at a time."),
      );
    case "answerSeconds":
      return plural(
        max,
        l10n.t("A question that you do not answer ends after 1 second."),
        l10n.t("A question that you do not answer ends after {0} seconds."),
      );
    case "requestsPerMinute":
      return plural(
        max,
        l10n.t("A server asks a model at most once a minute."),
        l10n.t("A server asks a model at most {0} times a minute."),
      );
    case "inFlight":
      return plural(
        max,
        l10n.t("At most 1 request of a server to a model is unanswered."),
        l10n.t("At most {0} requests of a server to a model are unanswered at a time."),
      );
    case "toolRounds":
      return plural(
        max,
        l10n.t("A model uses a server's tools at most once before it answers the server."),
        l10n.t("A model uses a server's tools at most {0} times before it answers the server."),
      );
    case "promptBytes":
      return l10n.t("The text of a server's request to a model has at most {0}.", size(max));
    case "imageBytes":
      return l10n.t("The images and audio of such a request have at most {0}.", size(max));
    default:
      return unreachable(limit);
  }
}

/** The decisions that an entry made. */
export function usedWords(
  used: PolicyUse | undefined,
  { effect, serverName }: PolicyEntry,
): string {
  if (used === undefined) {
    return effect === "limit" ? "" : l10n.t("Not used since Assent started.");
  }
  const { count, lastAt, lastServer } = used;
  const values = [when(lastAt), visible(lastServer)];
  if (effect === "limit") {
    return plural(
      count,
      l10n.t("Refused 1 request since Assent started: from {2} at {1}."),
      l10n.t("Refused {0} requests since Assent started, the last from {2} at {1}."),
      ...values,
    );
  }
  return serverName === undefined
    ? plural(
        count,
        l10n.t("Used once since Assent started, for {2} at {1}."),
        l10n.t("Used {0} times since Assent started, last for {2} at {1}."),
        ...values,
      )
    : plural(
        count,
        l10n.t("Used once since Assent started, at {1}."),
        l10n.t("Used {0} times since Assent started, last at {1}."),
        ...values,
      );
}
