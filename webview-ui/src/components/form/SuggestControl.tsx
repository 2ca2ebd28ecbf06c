import type { CompleteResult } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { plural } from "../../lib/l10n.ts";
import { visible } from "../../lib/visible.ts";
import { messageOf } from "../../link/client.ts";
import type { SharedProps } from "./controlProps.ts";
import { Suggestions } from "./Suggestions.tsx";
import { submitOnEnter } from "./TextControl.tsx";

/** Requests suggestions for the typed text. */
export type Suggest = (value: string, signal: AbortSignal) => Promise<CompleteResult>;

export interface SuggestControlProps {
  readonly input: string;
  readonly shared: SharedProps;
  readonly suggest: Suggest;
  readonly onInput: (input: string) => void;
}

/** The pause after a key before a request, in milliseconds. */
const pauseMs = 150;

/** MCP's own limit ("Completion"). A server may exceed it. */
const maxProposals = 100;

interface Proposals {
  readonly values: readonly string[];
  readonly hasMore: boolean;
}

const none: Proposals = { values: [], hasMore: false };

/**
 * A text input with the server's suggestions: a combobox by the ARIA pattern. The text need not be one of them. A text
 * of several lines has a textarea, without suggestions.
 */
export function SuggestControl({ input, shared, suggest, onInput }: SuggestControlProps) {
  const [proposals, setProposals] = useState(none);
  const [active, setActive] = useState(-1);
  const [failure, setFailure] = useState<string>();
  /** The text for which suggestions are requested. */
  const [wanted, setWanted] = useState<{ readonly value: string }>();
  const listId = useId();
  const line = useRef<HTMLInputElement>(null);
  const asker = useRef(suggest);
  asker.current = suggest;

  useEffect(() => {
    if (wanted === undefined) return;
    const abort = new AbortController();
    const ask = async () => {
      try {
        const { values = [], hasMore = false } = await asker.current(wanted.value, abort.signal);
        if (abort.signal.aborted) return;
        const found = [...new Set(values)].slice(0, maxProposals);
        // The typed text itself is no suggestion, and its list would cover the button below.
        const typed = found.length === 1 && found[0] === wanted.value;
        setProposals(typed ? none : { values: found, hasMore });
        setActive(-1);
        setFailure(undefined);
      } catch (error) {
        if (abort.signal.aborted) return;
        setProposals(none);
        setFailure(messageOf(error));
      }
    };
    const timer = setTimeout(() => void ask(), pauseMs);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [wanted]);

  const close = () => {
    setWanted(undefined);
    setProposals(none);
    setActive(-1);
  };
  const type = (value: string) => {
    onInput(value);
    if (value.includes("\n")) close();
    else setWanted({ value });
  };
  const take = (value: string) => {
    close();
    onInput(value);
  };

  const control = {
    ...shared,
    autoComplete: "off",
    spellCheck: false,
    value: input,
    onBlur: () => {
      close();
      shared.onBlur();
    },
  };
  const lines = useLines(input, type);
  if (lines.several) {
    return (
      <textarea
        {...control}
        ref={lines.ref}
        rows={2}
        onChange={(event) => type(event.target.value)}
        onKeyDown={submitOnEnter}
      />
    );
  }

  const { values, hasMore } = proposals;
  const open = values.length > 0;
  const optionId = (index: number) => `${listId}-${index}`;
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.nativeEvent.isComposing) return;
    const chosen = values[active];
    if (event.key === "ArrowDown" && !open) setWanted({ value: input });
    else if (event.key === "ArrowDown") setActive(Math.min(active + 1, values.length - 1));
    else if (event.key === "ArrowUp" && open) setActive(Math.max(active - 1, -1));
    else if (event.key === "Enter" && chosen !== undefined) take(chosen);
    else if (event.key === "Enter" && event.shiftKey) lines.insert(event.currentTarget, "\n");
    else if (event.key === "Escape" && open) close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div className="suggest">
      <input
        {...control}
        ref={line}
        type="text"
        role="combobox"
        aria-autocomplete="list"
        aria-expanded={open}
        aria-controls={listId}
        aria-activedescendant={active < 0 ? undefined : optionId(active)}
        onFocus={() => setWanted({ value: input })}
        onChange={(event) => type(event.target.value)}
        onKeyDown={onKeyDown}
        onPaste={(event) => {
          // An input would remove the line breaks.
          const pasted = event.clipboardData.getData("text/plain").replace(/\r\n?/g, "\n");
          if (!pasted.includes("\n")) return;
          event.preventDefault();
          lines.insert(event.currentTarget, pasted);
        }}
      />
      {open && (
        <Suggestions
          id={listId}
          label={l10n.t("Suggestions")}
          {...{ control: line, active, optionId }}
          count={values.length}
          keyOf={(index) => values[index] ?? ""}
          onTake={(index) => take(values[index] ?? "")}
        >
          {(index) => visible(values[index] ?? "")}
        </Suggestions>
      )}
      <span role="status" className="visually-hidden">
        {open && foundWords(values.length, hasMore)}
      </span>
      {failure !== undefined && (
        <p className="field-description">{l10n.t("No suggestions: {0}", visible(failure))}</p>
      )}
    </div>
  );
}

/** Inserts lines into a text of one line, and moves the focus to the control for several lines. */
function useLines(input: string, type: (value: string) => void) {
  const ref = useRef<HTMLTextAreaElement>(null);
  const caret = useRef<number>(undefined);
  const several = input.includes("\n");
  useEffect(() => {
    if (!several || caret.current === undefined) return;
    ref.current?.focus();
    ref.current?.setSelectionRange(caret.current, caret.current);
    caret.current = undefined;
  }, [several]);
  return {
    several,
    ref,
    insert(control: HTMLInputElement, text: string) {
      const from = control.selectionStart ?? input.length;
      const to = control.selectionEnd ?? input.length;
      caret.current = from + text.length;
      type(input.slice(0, from) + text + input.slice(to));
    },
  };
}

function foundWords(n: number, hasMore: boolean): string {
  return hasMore
    ? plural(
        n,
        l10n.t("1 suggestion, and there are more"),
        l10n.t("{0} suggestions, and there are more"),
      )
    : plural(n, l10n.t("1 suggestion"), l10n.t("{0} suggestions"));
}
