import type { Model, Outcome, UseMcpServer } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { brief } from "../../lib/brief.ts";
import { mermaidText } from "./mermaidText.ts";

/** Who has a sampling request while it runs. */
export type Place =
  /** The person, who must approve it. */
  | "approval"
  /** The model, which has sent nothing yet. */
  | "asked"
  /** The model, which is writing. */
  | "answering"
  /** The person, who must review the model's answer. */
  | "review";

/** A diagram of who has the request, and the same in words. */
export interface Flow {
  readonly code: string;
  /** The participant that has the request. */
  readonly at: "person" | "model";
  readonly words: string;
}

/** The server and the model of a sampling request. */
interface Participants {
  readonly serverName: string;
  readonly model?: Model;
}

/** Returns who has the request now; undefined for other questions, and after the request has ended. */
export function placeOf(question: UseMcpServer, outcome: Outcome | undefined): Place | undefined {
  if (question.type === "mcp_sampling_review") return outcome === undefined ? "review" : undefined;
  if (question.type !== "mcp_sampling") return undefined;
  if (outcome === undefined) return "approval";
  const approved = outcome.reason === "answered" || outcome.reason === "granted";
  if (!approved || question.result !== undefined) return undefined;
  if (question.inReview) return "review";
  return (question.progress?.text ?? "") === "" ? "asked" : "answering";
}

/**
 * Draws a request as a sequence diagram, with solid lines for past steps and dotted lines for next steps. A review is
 * drawn only when it is open, because not every answer has one. A request that a grant approved has no step of the
 * person.
 */
export function flowOf(place: Place, question: Participants, byGrant = false): Flow {
  const server = question.serverName;
  const model = question.model?.name ?? l10n.t("The model");
  const approved = place !== "approval";
  const answered = place === "review";
  const line = (happened: boolean) => (happened ? "->>" : "-->>");
  const request = mermaidText(l10n.t("request"));
  const answer = mermaidText(l10n.t("answer"));
  const code = [
    "sequenceDiagram",
    `participant server as ${mermaidText(server) || mermaidText(l10n.t("The server"))}`,
    "participant assent as Assent",
    `participant person as ${mermaidText(l10n.t("You"))}`,
    `participant model as ${mermaidText(model) || mermaidText(l10n.t("The model"))}`,
    `server->>assent: ${mermaidText(l10n.t("asks"))}`,
    ...(byGrant ? [] : [`assent->>person: ${request}`]),
    `assent${line(approved)}model: ${request}`,
    `model${line(answered)}assent: ${answer}`,
    ...(answered ? [`assent->>person: ${answer}`] : []),
    `assent-->>server: ${answer}`,
  ].join("\n");
  return {
    code,
    at: place === "approval" || place === "review" ? "person" : "model",
    words: wordsFor(place, brief(server), brief(model), byGrant),
  };
}

function wordsFor(place: Place, server: string, model: string, byGrant: boolean): string {
  switch (place) {
    case "approval":
      return l10n.t("With you: the request of {0} waits for your approval.", server);
    case "asked":
      return byGrant
        ? l10n.t(
            "With the model: a grant approved the request of {0}. {1} was asked.",
            server,
            model,
          )
        : l10n.t("With the model: you approved the request of {0}. {1} was asked.", server, model);
    case "answering":
      return l10n.t("With the model: {0} is answering the request of {1}.", model, server);
    case "review":
      return l10n.t("With you: {0} has answered, and {1} waits for your review.", model, server);
  }
}
