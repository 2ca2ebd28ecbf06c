import type {
  ContentBlock,
  McpSamplingRequest,
  SamplingContext,
  SamplingEdit,
  SamplingMessage,
  SecretFinding,
} from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { blockWithoutSecrets, withoutSecrets } from "../../timeline/secrets.ts";
import { type Draft, own } from "../../view/viewState.ts";

/**
 * The person's edits to a sampling request, as they are typed and stored over reloads: only the differences from the
 * server's request, so that images are not stored.
 */
export interface SamplingDraft {
  readonly systemPrompt: string;
  readonly temperature: string;
  readonly maxTokens: string;
  /** The text that replaces a message's; undefined if there is none. */
  text(message: number, block: number): string | undefined;
  /** The message is removed. */
  isLeftOut(message: number): boolean;
  /** The non-text content, without the secrets that the person removed. */
  redacted(block: ContentBlock): ContentBlock;
}

/** The keys under which a draft stores the edits. */
export const draftKey = {
  editing: "editing",
  model: "model",
  systemPrompt: "systemPrompt",
  temperature: "temperature",
  maxTokens: "maxTokens",
  text: (message: number, block: number) => `text ${message} ${block}`,
  leftOut: (message: number) => `without ${message}`,
  /** The ask's secret with this number. A draft itself contains no secret. */
  redacted: (secret: number) => `redacted ${secret}`,
  context: "context",
} as const;

export function readDraft(
  request: McpSamplingRequest,
  draft: Draft,
  secrets: readonly SecretFinding[] = [],
): SamplingDraft {
  const redacted = secrets.filter((_, index) => own(draft, draftKey.redacted(index)) === true);
  const typed = (key: string): string | undefined => {
    const value = own(draft, key);
    return typeof value === "string" ? value : undefined;
  };
  return {
    systemPrompt: typed(draftKey.systemPrompt) ?? request.systemPrompt ?? "",
    temperature: typed(draftKey.temperature) ?? request.temperature?.toString() ?? "",
    maxTokens: typed(draftKey.maxTokens) ?? request.maxTokens.toString(),
    text: (message, block) => typed(draftKey.text(message, block)),
    isLeftOut: (message) => own(draft, draftKey.leftOut(message)) === true,
    redacted: (block) => (redacted.length === 0 ? block : blockWithoutSecrets(block, redacted)),
  };
}

/** The problems of a draft by field. */
export type DraftProblems = Partial<
  Readonly<Record<"messages" | "temperature" | "maxTokens", string>>
>;

export interface Edited {
  /** Undefined if there are no edits. */
  readonly edit: SamplingEdit | undefined;
  /** The request that would be sent. */
  readonly request: McpSamplingRequest;
  readonly problems: DraftProblems;
}

/** Applies a draft. The sidecar checks the result again. */
export function editOf(
  request: McpSamplingRequest,
  draft: Draft,
  secrets: readonly SecretFinding[] = [],
): Edited {
  const typed = readDraft(request, draft, secrets);
  const messages = messagesOf(request, typed);
  const temperature = typed.temperature.trim() === "" ? undefined : Number(typed.temperature);
  const maxTokens = Number(typed.maxTokens.trim() === "" ? Number.NaN : typed.maxTokens);
  const edit: SamplingEdit = {
    ...(messages === undefined ? {} : { messages }),
    ...(typed.systemPrompt === "" ? {} : { systemPrompt: typed.systemPrompt }),
    ...(temperature === undefined ? {} : { temperature }),
    maxTokens,
  };
  const { systemPrompt: _prompt, temperature: _temperature, ...rest } = request;
  const isSame =
    messages === undefined &&
    typed.systemPrompt === (request.systemPrompt ?? "") &&
    temperature === request.temperature &&
    maxTokens === request.maxTokens;
  return {
    edit: isSame ? undefined : edit,
    request: { ...rest, ...edit },
    problems: {
      ...wrongMessages(messages),
      ...(temperature !== undefined &&
        !(temperature >= 0 && temperature <= 2) && {
          temperature: l10n.t("Enter a number from 0 to 2."),
        }),
      ...(!(Number.isInteger(maxTokens) && maxTokens >= 1 && maxTokens <= request.maxTokens) && {
        maxTokens: l10n.t(
          "Enter a whole number from 1 to {0}, the server's own limit.",
          request.maxTokens.toLocaleString(),
        ),
      }),
    },
  };
}

/** Checks that what remains is a conversation: a tool call and its result must be removed together. */
function wrongMessages(messages: readonly SamplingMessage[] | undefined): DraftProblems {
  if (messages === undefined) return {};
  if (messages.length === 0) return { messages: l10n.t("Keep at least one message.") };
  const blocks = messages.flatMap(({ content = [] }) => content);
  const calls = blocks.flatMap((block) => (block.type === "tool_use" ? [block.id] : []));
  const results = blocks.flatMap((block) =>
    block.type === "tool_result" ? [block.toolUseId] : [],
  );
  const isWhole = new Set([...calls, ...results]).size === new Set(calls).size;
  return isWhole && calls.every((id) => results.includes(id))
    ? {}
    : {
        messages: l10n.t(
          "A tool call and its result belong together: leave out both, or keep both.",
        ),
      };
}

/** The edited messages, or undefined if there are no edits. */
function messagesOf(
  { messages = [] }: McpSamplingRequest,
  draft: SamplingDraft,
): SamplingMessage[] | undefined {
  let changed = false;
  const edited = messages.flatMap((message, index): SamplingMessage[] => {
    if (draft.isLeftOut(index)) {
      changed = true;
      return [];
    }
    const content = (message.content ?? []).map((block, place) => {
      const text = draft.text(index, place);
      const now =
        block.type !== "text"
          ? draft.redacted(block)
          : text === undefined || text === block.text
            ? block
            : { ...block, text };
      changed ||= now !== block;
      return now;
    });
    return [{ ...message, content }];
  });
  return changed ? edited : undefined;
}

/** A draft in which secrets, by their numbers, are removed from all editable parts. */
export function redact(
  request: McpSamplingRequest,
  draft: Draft,
  secrets: readonly SecretFinding[],
  numbers: readonly number[],
): Draft {
  const typed = readDraft(request, draft);
  const gone = secrets.filter((_, index) => numbers.includes(index));
  const rewritten = (key: string, text: string): Draft => {
    const rest = withoutSecrets(text, gone);
    return rest === text ? {} : { [key]: rest };
  };
  const texts = (request.messages ?? []).flatMap(({ content = [] }, message) =>
    content.map((block, place) =>
      block.type === "text"
        ? rewritten(draftKey.text(message, place), typed.text(message, place) ?? block.text)
        : {},
    ),
  );
  const marks = numbers.map((number) => ({ [draftKey.redacted(number)]: true }));
  const systemPrompt = rewritten(draftKey.systemPrompt, typed.systemPrompt);
  return Object.assign({}, draft, systemPrompt, ...texts, ...marks);
}

/** A request with the context inserted before its conversation. */
export function withContext(
  request: McpSamplingRequest,
  context: SamplingContext | undefined,
): McpSamplingRequest {
  if (context === undefined) return request;
  const { messages = [] } = request;
  const content = [{ type: "text", text: context.text } as const];
  return { ...request, messages: [{ role: "user", content }, ...messages] };
}
