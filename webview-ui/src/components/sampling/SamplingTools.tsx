import type { McpSamplingRequest, SamplingTool, ToolChoice } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { json } from "../../lib/format.ts";
import { plural } from "../../lib/l10n.ts";
import { unreachable } from "../../lib/unreachable.ts";
import { visible } from "../../lib/visible.ts";
import { Text, Verbatim } from "../content/ContentBlocks.tsx";
import type { TextsAs } from "../content/useTexts.tsx";
import { Disclosure } from "../ui/Disclosure.tsx";

export interface SamplingToolsProps {
  readonly request: McpSamplingRequest;
  readonly texts: TextsAs;
  readonly keep: string;
}

/**
 * The tools that a server offers to the model (2025-11-25, "Sampling with Tools"), and the tool choice. The model reads
 * the descriptions, so the person approves them too.
 */
export function SamplingTools({ request, texts, keep }: SamplingToolsProps) {
  const { tools = [], toolChoice } = request;
  if (tools.length === 0 && toolChoice === undefined) return null;
  return (
    <div className="turn">
      <p className="turn-role">
        {plural(
          tools.length,
          l10n.t("1 tool offered to the model"),
          l10n.t("{0} tools offered to the model"),
        )}
      </p>
      <p className="muted">{choiceWords(toolChoice)}</p>
      <ul className="offered-tools" aria-label={l10n.t("Tools offered to the model")}>
        {tools.map((tool, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: nothing keeps a server from using a name twice.
          <li key={index}>
            <OfferedTool {...{ tool, texts }} keep={`${keep}:tool${index}`} />
          </li>
        ))}
      </ul>
    </div>
  );
}

interface OfferedToolProps {
  readonly tool: SamplingTool;
  readonly texts: TextsAs;
  readonly keep: string;
}

function OfferedTool({ tool, texts, keep }: OfferedToolProps) {
  const { name, title = "", description = "", inputSchema } = tool;
  return (
    <>
      <p>
        <strong className="name">{visible(name)}</strong>
        {title !== "" && <span className="muted name"> {visible(title)}</span>}
      </p>
      {description !== "" && (
        <Text {...{ texts }} text={description} keep={`${keep}:description`} />
      )}
      {inputSchema !== undefined && (
        <Disclosure keep={`${keep}:schema`} summary={l10n.t("Its arguments, as a JSON Schema")}>
          <Verbatim text={json(inputSchema)} />
        </Disclosure>
      )}
    </>
  );
}

function choiceWords({ mode = "auto" }: ToolChoice = {}): string {
  switch (mode) {
    case "auto":
      return l10n.t("The model may call them or not.");
    case "required":
      return l10n.t("The model must call at least one of them.");
    case "none":
      return l10n.t("The model must call none of them.");
    default:
      return unreachable(mode);
  }
}
