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
 * What a person makes of a sampling request, as it is typed and kept over reloads: only what differs
 * from what the server wrote, so that a picture is not kept with it.
 */
export interface SamplingDraft {
  readonly systemPrompt: string;
  readonly temperature: string;
  readonly maxTokens: string;
  /** A text that was typed in place of a message's, or undefined. */
  text(message: number, block: number): string | undefined;
  /** The message is not to be sent. */
  isLeftOut(message: number): boolean;
  /** What is not text, without the secrets that the person had taken out. */
  redacted(block: ContentBlock): ContentBlock;
}

/** The names under which a draft keeps what was typed. */
export const draftKey = {
  editing: "editing",
  model: "model",
  systemPrompt: "systemPrompt",
  temperature: "temperature",
  maxTokens: "maxTokens",
  text: (message: number, block: number) => `text ${message} ${block}`,
  leftOut: (message: number) => `without ${message}`,
  /** The secret with this number among those of the ask; a draft holds no secret. */
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

/** What is wrong with a draft, by the field. */
export type DraftProblems = Partial<
  Readonly<Record<"messages" | "temperature" | "maxTokens", string>>
>;

export interface Edited {
  /** Absent where nothing differs from what the server wrote. */
  readonly edit: SamplingEdit | undefined;
  /** What would be sent. */
  readonly request: McpSamplingRequest;
  readonly problems: DraftProblems;
}

/** What a draft makes of a request. The sidecar checks the same, and has the last word. */
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

/** What the person left out must leave a conversation: with every tool's call goes its result. */
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
    : { messages: l10n.t("A tool call and its result belong together: leave out both, or keep both.") };
}

/** The messages with what was typed, or undefined where they are as the server wrote them. */
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

/** A draft in which secrets are taken out, by their numbers, of everything that can be edited. */
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

/** A request with what is added before its conversation. */
export function withContext(
  request: McpSamplingRequest,
  context: SamplingContext | undefined,
): McpSamplingRequest {
  if (context === undefined) return request;
  const { messages = [] } = request;
  const content = [{ type: "text", text: context.text } as const];
  return { ...request, messages: [{ role: "user", content }, ...messages] };
}
