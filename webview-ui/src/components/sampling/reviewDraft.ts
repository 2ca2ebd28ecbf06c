import type { ContentBlock, McpSamplingResponse, ToolUseContent } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { json } from "../../lib/format.ts";
import { type Draft, own } from "../../view/viewState.ts";

/** The keys under which a draft stores the edits of a model's answer, by the index of the block. */
export const reviewKey = {
  editing: "editing",
  model: "model",
  text: (place: number) => `text ${place}`,
  input: (place: number) => `input ${place}`,
  leftOut: (place: number) => `without ${place}`,
} as const;

/** A block of a model's answer, with the person's edit. */
export interface ReviewedBlock {
  readonly written: ContentBlock;
  /** The content of the control: a text, or the JSON of a call's arguments; undefined if the block has none. */
  readonly typed: string;
  /** The block that the server gets; undefined if it is removed or invalid. */
  readonly sent: ContentBlock | undefined;
  readonly isLeftOut: boolean;
  /** The problem in the typed text. */
  readonly problem: string | undefined;
}

export interface ReviewedAnswer {
  readonly blocks: readonly ReviewedBlock[];
  /** The blocks that the server gets instead of the model's; undefined if they are the same. */
  readonly content: readonly ContentBlock[] | undefined;
  /** Why the answer as a whole cannot be returned. */
  readonly problem: string | undefined;
  readonly isWrong: boolean;
}

/**
 * Applies a draft to an answer: it can change texts and arguments and remove blocks, but add nothing. The sidecar
 * checks the result again.
 */
export function reviewOf({ content = [] }: McpSamplingResponse, draft: Draft): ReviewedAnswer {
  const blocks = content.map((block, place) => reviewBlock(block, place, draft));
  const isChanged = blocks.some(({ written, sent }) => written !== sent);
  // The sidecar refuses an answer with an empty text.
  const sent = blocks.flatMap(({ sent }) => (sent === undefined || isEmpty(sent) ? [] : [sent]));
  const isWrong = blocks.some(({ problem }) => problem !== undefined);
  const problem =
    !isChanged || isWrong || sent.length > 0
      ? undefined
      : content.some(({ type }) => type === "tool_use")
        ? l10n.t("Nothing is left of the answer. To return nothing, decline it.")
        : l10n.t("The answer is empty. To return nothing, decline it.");
  return {
    blocks,
    content: isChanged ? sent : undefined,
    problem,
    isWrong: isWrong || problem !== undefined,
  };
}

function reviewBlock(written: ContentBlock, place: number, draft: Draft): ReviewedBlock {
  const typedAs = (key: string, initial: string) => {
    const value = own(draft, key);
    return typeof value === "string" ? value : initial;
  };
  switch (written.type) {
    case "text": {
      const typed = typedAs(reviewKey.text(place), written.text);
      const sent = typed === written.text ? written : { ...written, text: typed };
      return { written, typed, sent, isLeftOut: false, problem: undefined };
    }
    case "tool_use": {
      const before = json(written.input);
      const typed = typedAs(reviewKey.input(place), before);
      const isLeftOut = own(draft, reviewKey.leftOut(place)) === true;
      const input = typed === before ? { object: written.input } : parseObject(typed);
      const problem = "problem" in input && !isLeftOut ? input.problem : undefined;
      const sent = isLeftOut || "problem" in input ? undefined : withInput(written, input.object);
      return { written, typed, sent, isLeftOut, problem };
    }
    default:
      return { written, typed: "", sent: written, isLeftOut: false, problem: undefined };
  }
}

function withInput(written: ToolUseContent, input: unknown): ToolUseContent {
  // Whitespace does not change the arguments.
  return JSON.stringify(input) === JSON.stringify(written.input) ? written : { ...written, input };
}

type Parsed = { readonly object: object } | { readonly problem: string };

function parseObject(text: string): Parsed {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) {
      return { object: value };
    }
  } catch (error) {
    return {
      problem: l10n.t("Not JSON: {0}", error instanceof Error ? error.message : String(error)),
    };
  }
  return { problem: l10n.t("The arguments of a tool must be a JSON object: { … }.") };
}

function isEmpty(block: ContentBlock): boolean {
  return block.type === "text" && block.text.trim() === "";
}
