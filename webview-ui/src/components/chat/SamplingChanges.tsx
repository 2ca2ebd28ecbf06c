import type { ContentBlock, McpSamplingRequest } from "@assent/protocol";
import { unreachable } from "../../unreachable.ts";
import { Clamp } from "../ui/Clamp.tsx";
import { Diff } from "../ui/Diff.tsx";
import { json } from "../ui/words.ts";
import { bytes } from "./ContentBlocks.tsx";

export interface SamplingChangesProps {
  readonly asked: McpSamplingRequest;
  readonly sent: McpSamplingRequest;
  readonly keep: string;
}

/** What a person changed of a sampling request, part by part. */
export function SamplingChanges({ asked, sent, keep }: SamplingChangesProps) {
  return (
    <div className="sampling-details">
      {changesOf(asked, sent).map(({ name, before, after }) => (
        <div key={name} className="turn">
          <p className="turn-role">{name}</p>
          <Clamp keep={`${keep}:change ${name}`} text={before + after}>
            <Diff before={before} after={after} />
          </Clamp>
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
    ["System prompt", ({ systemPrompt = "" }) => systemPrompt],
    ["Messages", conversation],
    ["Maximum tokens", ({ maxTokens }) => maxTokens.toString()],
    ["Temperature", ({ temperature }) => temperature?.toString() ?? "the model's own"],
  ];
  return parts
    .map(([name, of]) => ({ name, before: of(asked), after: of(sent) }))
    .filter(({ before, after }) => before !== after);
}

/** The messages as one text, in which what was left out shows like what was rewritten. */
function conversation({ messages = [] }: McpSamplingRequest): string {
  return messages
    .map(({ role, content = [] }) => {
      const name = role === "user" ? "User" : "Assistant";
      return `${name}:\n${content.map(told).join("\n")}`;
    })
    .join("\n\n");
}

function told(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio":
      return `[${block.mimeType}, ${bytes(block.data)}]`;
    case "resource_link":
    case "resource":
    case "tool_use":
    case "tool_result":
    case "unknown":
      return json(block);
    default:
      return unreachable(block);
  }
}
