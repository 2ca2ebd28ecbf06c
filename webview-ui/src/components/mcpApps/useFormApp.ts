import type { McpElicitationRequest } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useContext, useRef, useState } from "react";
import type { Draft } from "../../view/viewState.ts";
import { inputsOfMembers } from "../form/argumentInputs.ts";
import { CheckContext } from "../form/useCheck.ts";

/** What the person has to know about the app while they see the plain form. */
export type FormAppNote =
  /** The form has the app's answer. */
  | { readonly is: "filled" }
  /** The app has an answer, and the person has filled in something else. */
  | { readonly is: "offers"; readonly inputs: Draft }
  /** The app wants the person to decline. */
  | { readonly is: "declines" }
  /** There is no answer of the app, for the reason that the words say. */
  | { readonly is: "failed"; readonly words: string };

interface State {
  /** The app is shown, and the plain form is not. */
  readonly shown: boolean;
  /** The app runs, shown or not. */
  readonly runs: boolean;
  /** The app was asked so many times. */
  readonly round: number;
  /** The app has answered, and may not answer again in this round. */
  readonly answered: boolean;
  readonly note: FormAppNote | undefined;
  /** The inputs that the form is filled with. */
  readonly fill: Draft | undefined;
}

/** The app of a form, and what it proposes. The app never submits: its answer goes into the fields of the plain form. */
export interface FormAppState extends State {
  readonly show: () => void;
  /** The person wants the plain form. */
  readonly showPlain: () => void;
  /** The person takes the answer that the app offers. */
  readonly takeOffer: (inputs: Draft) => void;
  readonly onAnswer: (answer: unknown) => void;
  readonly onEnd: (words: string) => void;
}

/**
 * Holds how far the app of a form is. It is shown first, unless the person has filled in something before: then they get
 * the plain form.
 */
export function useFormApp(
  { appUri, fields = [] }: McpElicitationRequest,
  hasDraft: () => boolean,
): FormAppState {
  const check = useContext(CheckContext);
  const [state, setState] = useState<State>(() => {
    const shown = appUri !== undefined && !hasDraft();
    const none = { note: undefined, fill: undefined };
    return { shown, runs: shown, round: 0, answered: false, ...none };
  });
  const shownNow = useRef(state.shown);
  shownNow.current = state.shown;

  /** The app's answer as inputs of the form, or why there is none. */
  const read = async (answer: unknown): Promise<FormAppNote> => {
    if (answer === undefined) return { is: "failed", words: l10n.t("The app failed.") };
    const { action, content = {} } = isRecord(answer) ? answer : {};
    if (action === "decline" || action === "cancel") return { is: "declines" };
    if (action !== "accept" || !isRecord(content)) return doesNotFit();
    try {
      const problems = await check({ fields: [...fields], content }, new AbortController().signal);
      const inputs = problems.length === 0 ? inputsOfMembers(fields, content) : undefined;
      return inputs === undefined ? doesNotFit() : { is: "offers", inputs };
    } catch {
      return { is: "failed", words: l10n.t("The app's answer could not be checked.") };
    }
  };
  const hear = async (answer: unknown) => {
    const note = await read(answer);
    const filled = note.is === "offers" && shownNow.current && !hasDraft();
    setState((now) => ({
      ...now,
      shown: false,
      answered: true,
      ...(filled ? { note: { is: "filled" }, fill: note.inputs } : { note }),
    }));
  };
  return {
    ...state,
    show: () =>
      setState((now) => ({
        ...now,
        shown: true,
        runs: true,
        round: now.answered ? now.round + 1 : now.round,
        answered: false,
        note: undefined,
      })),
    showPlain: () => setState((now) => ({ ...now, shown: false })),
    takeOffer: (inputs) => setState((now) => ({ ...now, note: { is: "filled" }, fill: inputs })),
    onAnswer: (answer) => void hear(answer),
    onEnd: (words) =>
      setState((now) => ({
        ...now,
        shown: false,
        runs: false,
        answered: false,
        note: now.shown ? { is: "failed", words } : now.note,
      })),
  };
}

function doesNotFit(): FormAppNote {
  return { is: "failed", words: l10n.t("The app's answer does not fit the form.") };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
