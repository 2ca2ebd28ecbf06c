import type {
  ContentBlock,
  McpSamplingRequest,
  SamplingContext,
  SecretFinding,
} from "@assent/protocol";
import * as l10n from "@vscode/l10n";

/** Replaces a secret in a text. */
function replacement({ description }: SecretFinding): string {
  return `[redacted: ${description}]`;
}

/** The forms of a secret: as it is, and as in a JSON string. */
export function formsOf({ text }: SecretFinding): readonly string[] {
  const inJson = JSON.stringify(text).slice(1, -1);
  return text === "" ? [] : inJson === text ? [text] : [text, inJson];
}

/** Enough of a secret to recognise it, but too little to use it. */
export function masked({ text }: SecretFinding): string {
  const shown = text.length >= 16 ? 4 : text.length >= 8 ? 2 : 0;
  return `${text.slice(0, shown)}…${shown === 0 ? "" : text.slice(-shown)}`;
}

/** Replaces every occurrence of the secrets in a text. */
export function withoutSecrets(text: string, secrets: readonly SecretFinding[]): string {
  // One secret may contain another.
  return secrets
    .toSorted((a, b) => b.text.length - a.text.length)
    .reduce(
      (rest, secret) =>
        formsOf(secret).reduce(
          (now, form) => now.replaceAll(form, () => replacement(secret)),
          rest,
        ),
      text,
    );
}

/** The same for a tool's arguments or result. */
export function blockWithoutSecrets(
  block: ContentBlock,
  secrets: readonly SecretFinding[],
): ContentBlock {
  if (block.type !== "tool_use" && block.type !== "tool_result") return block;
  const { type, ...rest } = block;
  const before = JSON.stringify(rest);
  const after = secrets
    .toSorted((a, b) => b.text.length - a.text.length)
    .reduce((now, secret) => {
      const inJson = JSON.stringify(replacement(secret)).slice(1, -1);
      // A secret from JSON occurs in JSON in the same form.
      return formsOf(secret).reduce((rest, form) => rest.replaceAll(form, () => inJson), now);
    }, before);
  return before === after ? block : { ...JSON.parse(after), type };
}

/** A secret that the server wrote, and where it occurs in what would be sent: nowhere if it was edited out. */
export interface Placed {
  readonly secret: SecretFinding;
  /** Its number among the secrets of the ask. */
  readonly number: number;
  readonly places: readonly string[];
  /** It occurs in an editable part, among others. */
  readonly redactable: boolean;
}

/** Finds where secrets occur in a request, and in its added context. */
export function placeSecrets(
  secrets: readonly SecretFinding[],
  request: McpSamplingRequest,
  context: SamplingContext | undefined,
): readonly Placed[] {
  if (secrets.length === 0) return [];
  const parts = partsOf(request, context);
  return secrets.map((secret, number) => {
    const forms = formsOf(secret);
    const found = parts.filter(({ text }) => forms.some((form) => text.includes(form)));
    return {
      secret,
      number,
      places: found.map(({ name }) => name),
      redactable: found.some(({ editable }) => editable),
    };
  });
}

interface Part {
  readonly name: string;
  readonly text: string;
  readonly editable: boolean;
}

/** Everything that a model reads, by the part of the request. */
function partsOf(
  request: McpSamplingRequest,
  context: SamplingContext | undefined,
): readonly Part[] {
  const { systemPrompt = "", messages = [], tools = [], stopSequences = [] } = request;
  return [
    { name: l10n.t("the system prompt"), text: systemPrompt, editable: true },
    { name: l10n.t("the context"), text: context?.text ?? "", editable: false },
    ...messages.map(({ content = [] }, index) => ({
      name: l10n.t("message {0}", index + 1),
      text: content.map(textOf).join("\n"),
      editable: true,
    })),
    ...tools.map((tool) => ({
      name: l10n.t("the tool {0}", tool.name),
      text: JSON.stringify(tool),
      editable: false,
    })),
    { name: l10n.t("the stop sequences"), text: stopSequences.join("\n"), editable: false },
  ];
}

function textOf(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "image":
    case "audio":
      return "";
    case "tool_result": {
      const { content = [], structuredContent } = block;
      return [...content.map(textOf), JSON.stringify(structuredContent) ?? ""].join("\n");
    }
    default:
      return JSON.stringify(block);
  }
}
