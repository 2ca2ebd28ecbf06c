import type { ContentBlock } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { plural } from "../../lib/l10n.ts";
import { Disclosure } from "../ui/Disclosure.tsx";
import { ContentBlocks } from "./ContentBlocks.tsx";

export interface AnnotatedBlocksProps {
  readonly blocks: readonly ContentBlock[];
  /** Names the blocks in the view's state; unique in the panel. */
  readonly keep: string;
}

/**
 * The content of a tool's result, as its annotations want it shown: what the server marks for the model alone or as
 * optional is folded. Nothing is left out, and the order stays, because a text may be about the block after it.
 */
export function AnnotatedBlocks({ blocks, keep }: AnnotatedBlocksProps) {
  const { shown, optional, forModel } = sorted(blocks);
  return (
    <>
      <ContentBlocks blocks={shown} texts="plain" keep={keep} />
      {optional.length > 0 && (
        <Disclosure
          keep={`${keep}:optional`}
          summary={plural(
            optional.length,
            l10n.t("1 part that the server marks as optional"),
            l10n.t("{0} parts that the server marks as optional"),
          )}
        >
          <ContentBlocks blocks={optional} texts="plain" keep={`${keep}:optional`} />
        </Disclosure>
      )}
      {forModel.length > 0 && (
        <Disclosure
          keep={`${keep}:model`}
          summary={plural(
            forModel.length,
            l10n.t("1 part that the server marks for the model alone"),
            l10n.t("{0} parts that the server marks for the model alone"),
          )}
        >
          <ContentBlocks blocks={forModel} texts="plain" keep={`${keep}:model`} />
        </Disclosure>
      )}
    </>
  );
}

/** MCP defines 0 as entirely optional and 1 as required. A block below this is closer to optional than to neither. */
const optionalBelow = 0.25;

interface Sorted {
  readonly shown: readonly ContentBlock[];
  readonly optional: readonly ContentBlock[];
  readonly forModel: readonly ContentBlock[];
}

function sorted(blocks: readonly ContentBlock[]): Sorted {
  const at = (place: Place) => blocks.filter((block) => placeOf(block) === place);
  const [shown, optional, forModel] = [at("shown"), at("optional"), at("model")];
  // A fold beside nothing would only be in the way.
  return shown.length === 0
    ? { shown: optional, optional: [], forModel }
    : { shown, optional, forModel };
}

type Place = "shown" | "optional" | "model";

function placeOf(block: ContentBlock): Place {
  const { audience = [], priority } =
    "annotations" in block && block.annotations !== undefined ? block.annotations : noAnnotations;
  if (audience.length > 0 && !audience.includes("user")) return "model";
  return priority !== undefined && priority < optionalBelow ? "optional" : "shown";
}

const noAnnotations: { readonly audience?: readonly string[]; readonly priority?: number } = {};
