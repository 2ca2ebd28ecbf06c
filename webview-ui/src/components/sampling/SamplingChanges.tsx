import type { ContentBlock, McpSamplingRequest } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { json } from "../../lib/format.ts";
import { unreachable } from "../../lib/unreachable.ts";
import { bytes } from "../content/base64.ts";
import { Diff } from "../ui/Diff.tsx";

export interface SamplingChangesProps {
  readonly asked: McpSamplingRequest;
  readonly sent: McpSamplingRequest;
  readonly keep: string;
}

/** The person's changes to a sampling request, part by part. */
export function SamplingChanges({ asked, sent, keep }: SamplingChangesProps) {
  return (
    <div className="sampling-details">
      {changesOf(asked, sent).map(({ name, before, after }) => (
        <div key={name} className="turn">
          <p className="turn-role">{name}</p>
          <Diff {...{ before, after }} keep={`${keep}:change ${name}`} />
        </div>
      ))}
    </div>
  );
}

interface Change {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

function changesOf(asked: McpSamplingRequest, sent: McpSamplingRequest): readonly Change[] {
  const parts: readonly (readonly [string, (request: McpSamplingRequest) => string])[] = [
    [l10n.t("System prompt"), ({ systemPrompt = "" }) => systemPrompt],
    [l10n.t("Messages"), conversation],
    [l10n.t("Maximum tokens"), ({ maxTokens }) => maxTokens.toString()],
    [
      l10n.t("Temperature"),
      ({ temperature }) => temperature?.toString() ?? l10n.t("the model's own"),
    ],
  ];
  return parts
    .map(([name, of]) => ({ name, before: of(asked), after: of(sent) }))
    .filter(({ before, after }) => before !== after);
}

/** The messages as one text, in which removed messages appear as removed text. */
function conversation({ messages = [] }: McpSamplingRequest): string {
  return messages
    .map(({ role, content = [] }) => {
      const name = role === "user" ? l10n.t("User") : l10n.t("Assistant");
      return `${name}:\n${content.map(told).join("\n")}`;
    })
    .join("\n\n");
}

/** Content as a text for comparison. */
export function told(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio":
      return `[${block.mimeType}, ${bytes(block.data)}]`;
    case "tool_use":
      return `${l10n.t("[calls {0}]", block.name)}\n${json(block.input)}`;
    case "tool_result":
      return [
        block.isError ? l10n.t("[the tool reported an error]") : l10n.t("[the tool returned]"),
        ...(block.content ?? []).map(told),
        ...(block.structuredContent === undefined ? [] : [json(block.structuredContent)]),
      ].join("\n");
    case "resource_link":
    case "resource":
    case "unknown":
      return json(block);
    default:
      return unreachable(block);
  }
}
