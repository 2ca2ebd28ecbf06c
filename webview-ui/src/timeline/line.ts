import type { Ask, HostPermission, Outcome, OutcomeReason, UseMcpServer } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { plural } from "../lib/l10n.ts";
import { unreachable } from "../lib/unreachable.ts";
import { visible } from "../lib/visible.ts";
import { answererOf } from "./sampling.ts";
import { contentText, subjectOf, valuesText } from "./subject.ts";
import type { Step } from "./timeline.ts";

/** The outcome of a question in one line. */
export interface Line {
  readonly icon: string;
  /** Who decided what, and the answer. */
  readonly words: string;
  /** Where the person can change the decision that answered for them; undefined if there was none. */
  readonly change?: "declined" | "policy" | "settings";
}

/** Describes a settled ask in one line. An open ask has no line. */
export function lineOf({ ask, reviewed }: Step): Line | undefined {
  const { question, outcome } = ask;
  if (outcome === undefined) return undefined;
  if (question.type === "host_permission") return permissionLine(ask, question, outcome);
  return standingLine(question, outcome, reviewed) ?? personLine(question, outcome, reviewed);
}

/** An earlier decision of the person settled the ask without asking them. */
function standingLine(
  question: UseMcpServer,
  outcome: Outcome,
  reviewed: boolean,
): Line | undefined {
  const { standing, reason, grantId } = outcome;
  const subject = subjectOf(question);
  switch (standing) {
    case "declineAll":
      return {
        icon: "circle-slash",
        words: l10n.t(
          "Declined because you stopped all questions from {0}: {1}",
          visible(question.serverName),
          subject,
        ),
        change: "declined",
      };
    case "never":
      return {
        icon: "circle-slash",
        words: l10n.t("Declined because you never allow it: {0}", subject),
        change: "policy",
      };
    case "always":
      return {
        icon: "pass",
        words: l10n.t("Allowed because you always allow it: {0}", subject),
        change: "policy",
      };
    case "task":
      return {
        icon: "pass",
        words: l10n.t("Allowed because you allow it in this task: {0}", subject),
        change: "policy",
      };
    case undefined:
      break;
    default:
      unreachable(standing);
  }
  if (reason === "denied") {
    return {
      icon: "circle-slash",
      words: l10n.t("Declined by your limits: {0}", subject),
      change: "settings",
    };
  }
  if (reason !== "granted") return undefined;
  if (grantId !== undefined) {
    const words =
      question.type === "mcp_sampling"
        ? modelWords(l10n.t("Your grant let {0} answer", modelOf(question)), question, reviewed)
        : l10n.t("Your grant allowed: {0}", subject);
    return { icon: "pass", words, change: "policy" };
  }
  return question.type === "mcp_elicitation"
    ? {
        icon: "pass",
        words: l10n.t(
          "Answered by your setting assent.elicitation.answers: {0}",
          answerText(question),
        ),
        change: "settings",
      }
    : {
        icon: "pass",
        words: l10n.t("Allowed by your setting assent.tools.autoApprove: {0}", subject),
        change: "settings",
      };
}

function personLine(question: UseMcpServer, outcome: Outcome, reviewed: boolean): Line {
  const { reason, undelivered = "" } = outcome;
  const { icon, words } = described(question, reason, reviewed);
  return { icon: undelivered === "" ? icon : "warning", words };
}

function described(question: UseMcpServer, reason: OutcomeReason, reviewed: boolean): Line {
  const subject = subjectOf(question);
  switch (reason) {
    case "answered":
    case "granted":
      return { icon: "pass", words: answeredWords(question, reviewed) };
    case "declined":
    case "denied":
      return { icon: "circle-slash", words: declinedWords(question) };
    case "dismissed":
      return { icon: "close", words: l10n.t("You dismissed it without an answer: {0}", subject) };
    case "regenerated":
      return { icon: "refresh", words: l10n.t("You asked for another answer than: {0}", subject) };
    case "timedOut":
      return { icon: "clock", words: l10n.t("There was no time left to answer: {0}", subject) };
    case "serverStoppedWaiting":
      return { icon: "clock", words: l10n.t("The server stopped waiting: {0}", subject) };
    case "callEnded":
      return { icon: "clock", words: l10n.t("The call ended first: {0}", subject) };
    case "serverLost":
      return {
        icon: "debug-disconnect",
        words: l10n.t("The connection to the server was lost: {0}", subject),
      };
    case "completed":
      return {
        icon: "pass",
        words: l10n.t("The server reported completion: {0}", subject),
      };
    case "restarted":
      return {
        icon: "debug-restart",
        words: l10n.t("Assent stopped while this was open: {0}", subject),
      };
    case "answeredInHost":
      return {
        icon: "pass",
        words: l10n.t("Answered in {0}: {1}", visible(question.serverName), subject),
      };
    case "hostStoppedWaiting":
      return {
        icon: "clock",
        words: l10n.t("{0} stopped waiting: {1}", visible(question.serverName), subject),
      };
    case "noFrontEnd":
      return {
        icon: "debug-disconnect",
        words: l10n.t("No window was open to show it: {0}", subject),
      };
    default:
      return unreachable(reason);
  }
}

function answeredWords(question: UseMcpServer, reviewed: boolean): string {
  switch (question.type) {
    case "mcp_elicitation":
      return l10n.t("You answered: {0}", answerText(question));
    case "mcp_url_elicitation": {
      const site = subjectOf(question);
      return question.awaitsCompletion
        ? l10n.t("You opened {0} and marked it as done", site)
        : l10n.t("You opened {0}", site);
    }
    case "mcp_sampling": {
      if (question.result?.type === "response" && question.result.byPerson) {
        return l10n.t("You answered as the model: {0}", contentText(question.result.content ?? []));
      }
      const model = modelOf(question);
      const words =
        question.sentRequest === undefined
          ? l10n.t("You let {0} answer", model)
          : l10n.t("You edited the request and let {0} answer", model);
      return modelWords(words, question, reviewed);
    }
    case "mcp_sampling_review": {
      const { samplingResponse, sentResponse } = question;
      return sentResponse === undefined
        ? l10n.t("You returned: {0}", contentText(samplingResponse.content ?? []))
        : l10n.t("You returned (edited): {0}", contentText(sentResponse.content ?? []));
    }
    case "use_mcp_tool":
      if (question.fromApp === true) {
        return question.sentArguments === undefined
          ? l10n.t("You allowed the app: {0}", subjectOf(question))
          : l10n.t("You allowed the app (edited): {0}", subjectOf(question));
      }
      return question.sentArguments === undefined
        ? l10n.t("You allowed: {0}", subjectOf(question))
        : l10n.t("You allowed (edited): {0}", subjectOf(question));
    case "access_mcp_resource":
      return l10n.t("You allowed reading {0}", subjectOf(question));
    case "repeat_mcp_call":
      return l10n.t("You called it again");
    case "host_permission":
      return l10n.t("You allowed: {0}", subjectOf(question));
    default:
      return unreachable(question);
  }
}

type Sampling = Extract<UseMcpServer, { type: "mcp_sampling" }>;

function modelOf({ model, result }: Sampling): string {
  return answererOf(model, result?.type === "response" ? result : undefined);
}

/** Adds the number of tokens that the model wrote, and its answer if no review shows it. */
function modelWords(words: string, { result, usage }: Sampling, reviewed: boolean): string {
  const tokens =
    usage === undefined
      ? ""
      : ` (${plural(usage.outputTokens, l10n.t("1 token"), l10n.t("{0} tokens"))})`;
  const answer =
    result?.type === "response" && !reviewed ? `: ${contentText(result.content ?? [])}` : "";
  return words + tokens + answer;
}

/** Summarises a form's answer; or the question, if the answer has no values. */
function answerText(question: Extract<UseMcpServer, { type: "mcp_elicitation" }>): string {
  return valuesText(question) || subjectOf(question);
}

function declinedWords(question: UseMcpServer): string {
  const subject = subjectOf(question);
  switch (question.type) {
    case "mcp_elicitation":
    case "use_mcp_tool":
    case "host_permission":
      return l10n.t("You declined: {0}", subject);
    case "mcp_url_elicitation":
      return l10n.t("You declined to open {0}", subject);
    case "mcp_sampling":
      return l10n.t("You declined to ask a model: {0}", subject);
    case "mcp_sampling_review":
      return l10n.t("You declined to return: {0}", subject);
    case "access_mcp_resource":
      return l10n.t("You declined reading {0}", subject);
    case "repeat_mcp_call":
      return l10n.t("You did not call it again");
    default:
      return unreachable(question);
  }
}

/** An agent's host does not say that it took an answer: until something shows it, the answer was only sent. */
function permissionLine({ delivered }: Ask, question: HostPermission, outcome: Outcome): Line {
  const { reason, undelivered = "" } = outcome;
  const subject = subjectOf(question);
  const host = visible(question.serverName);
  if (undelivered !== "" && reason === "declined") {
    return { icon: "warning", words: l10n.t("You said no, too late: {0}", subject) };
  }
  if (delivered === true || undelivered !== "") return personLine(question, outcome, false);
  switch (reason) {
    case "answered":
      return { icon: "pass", words: l10n.t("You said yes, and {0} was told: {1}", host, subject) };
    case "declined":
      return {
        icon: "circle-slash",
        words: l10n.t("You said no, and {0} was told: {1}", host, subject),
      };
    case "dismissed":
      return {
        icon: "close",
        words: l10n.t("You left it to {0}'s own prompt: {1}", host, subject),
      };
    default:
      return personLine(question, outcome, false);
  }
}

/** What the person said to an agent beside yes or no. */
export function permissionSaid({ answer, options = [] }: HostPermission): readonly string[] {
  const chosen = options.find(({ id }) => id === answer?.optionId)?.means;
  return [
    ...(chosen === undefined ? [] : [chosen]),
    ...(answer?.message === undefined ? [] : [l10n.t("The model was told: {0}", answer.message)]),
  ].map(visible);
}

/** Only the person's own actions are described as such. */
export function byPerson(reason: OutcomeReason): boolean {
  return (
    reason === "answered" ||
    reason === "declined" ||
    reason === "dismissed" ||
    reason === "regenerated"
  );
}
