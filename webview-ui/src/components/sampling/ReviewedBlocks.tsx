import type { SamplingTool, ToolUseContent } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import type { KeyboardEvent } from "react";
import type { FieldInput } from "../../view/viewState.ts";
import { ContentBlocks, Text, ToolUse } from "../content/ContentBlocks.tsx";
import type { TextsAs } from "../content/useTexts.tsx";
import { type ReviewedBlock, reviewKey } from "./reviewDraft.ts";
import { TextField } from "./SamplingEditor.tsx";

export interface ReviewedBlocksProps {
  readonly blocks: readonly ReviewedBlock[];
  /** The tools that the server offered, to describe the calls; undefined if they are unknown here. */
  readonly tools: readonly SamplingTool[] | undefined;
  readonly texts: TextsAs;
  readonly isEditing: boolean;
  readonly disabled: boolean;
  readonly onInput: (key: string, value: FieldInput) => void;
  readonly onKeyDown: (event: KeyboardEvent) => void;
  readonly keep: string;
}

/** A model's answer that the person can edit: its texts, and the requested calls. */
export function ReviewedBlocks(props: ReviewedBlocksProps) {
  const { blocks, tools = [], texts, isEditing, disabled, onInput, onKeyDown, keep } = props;
  const count = blocks.filter(({ written }) => written.type === "text").length;
  const calls = blocks.filter(({ written }) => written.type === "tool_use").length;
  const placeAmong = (type: string, place: number) =>
    blocks.slice(0, place + 1).filter(({ written }) => written.type === type).length;
  return (
    <div className="content-blocks">
      {blocks.map((block, place) => {
        const { written, typed, sent } = block;
        const here = `${keep}:${place}`;
        if (written.type === "tool_use") {
          return (
            <ReviewedCall
              // biome-ignore lint/suspicious/noArrayIndexKey: a block has no name but its place.
              key={place}
              {...{ block, written, place, texts, isEditing, disabled, onInput, onKeyDown }}
              name={
                calls === 1
                  ? written.name
                  : `${written.name}, call ${placeAmong("tool_use", place)}`
              }
              tool={tools.find(({ name }) => name === written.name)}
              keep={here}
            />
          );
        }
        if (written.type === "text" && isEditing) {
          return (
            <TextField
              // biome-ignore lint/suspicious/noArrayIndexKey: a block has no name but its place.
              key={place}
              label={
                count === 1
                  ? l10n.t("Answer to the server")
                  : l10n.t("Answer to the server, text {0}", placeAmong("text", place))
              }
              value={typed}
              disabled={disabled}
              onInput={(value) => onInput(reviewKey.text(place), value)}
              onKeyDown={onKeyDown}
            />
          );
        }
        const shown = [sent ?? written];
        // biome-ignore lint/suspicious/noArrayIndexKey: a block has no name but its place.
        return <ContentBlocks key={place} blocks={shown} {...{ texts }} keep={here} />;
      })}
    </div>
  );
}

interface ReviewedCallProps extends Omit<ReviewedBlocksProps, "blocks" | "tools"> {
  readonly block: ReviewedBlock;
  readonly written: ToolUseContent;
  readonly place: number;
  /** Tells the call from the others of the answer. */
  readonly name: string;
  readonly tool: SamplingTool | undefined;
}

function ReviewedCall(props: ReviewedCallProps) {
  const { block, written, place, name, tool, texts, isEditing, disabled } = props;
  const { onInput, onKeyDown, keep } = props;
  const { typed, sent, isLeftOut, problem } = block;
  const { description = "" } = tool ?? {};
  const isText = isEditing && !isLeftOut;
  return (
    <div className={isLeftOut ? "reviewed-call left-out" : "reviewed-call"}>
      {isText ? (
        <TextField
          label={l10n.t("Arguments of {0}", name)}
          value={typed}
          code
          problem={problem}
          disabled={disabled}
          onInput={(value) => onInput(reviewKey.input(place), value)}
          onKeyDown={onKeyDown}
        />
      ) : (
        <ToolUse use={sent?.type === "tool_use" ? sent : written} keep={keep} />
      )}
      {!isText && problem !== undefined && (
        <p role="alert" className="field-problem">
          {problem}
        </p>
      )}
      {description !== "" && (
        <div className="muted">
          <Text {...{ texts }} text={description} keep={`${keep}:description`} />
        </div>
      )}
      <label className="tick">
        <input
          type="checkbox"
          checked={!isLeftOut}
          disabled={disabled}
          onChange={(event) => onInput(reviewKey.leftOut(place), !event.target.checked)}
        />
        <span>
          {l10n.t("Keep this call")}
          <span className="visually-hidden">: {name}</span>
        </span>
      </label>
    </div>
  );
}
