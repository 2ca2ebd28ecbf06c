import type { McpSamplingRequest, ModelPreferences, SamplingMessage } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useState } from "react";
import { json } from "../../lib/format.ts";
import { ContentBlocks, Text, type ToolCalls, Verbatim } from "../content/ContentBlocks.tsx";
import { Marked } from "../content/Marked.tsx";
import { type TextsAs, useTexts } from "../content/useTexts.tsx";
import { SamplingTools } from "./SamplingTools.tsx";

export interface SamplingDetailsProps {
  readonly request: McpSamplingRequest;
  readonly keep: string;
}

/** All parts of a sampling request that its server wrote. */
export function SamplingDetails({ request, keep }: SamplingDetailsProps) {
  const { messages = [], systemPrompt } = request;
  const [texts, toggle] = useTexts(keep);
  return (
    <div className="sampling-details">
      {toggle}
      {systemPrompt !== undefined && systemPrompt !== "" && (
        <div className="turn">
          <p className="turn-role">{l10n.t("System prompt")}</p>
          <Text text={systemPrompt} texts={texts} keep={`${keep}:system`} />
        </div>
      )}
      <Turns {...{ messages, texts, keep }} />
      <SamplingTools {...{ request, texts, keep }} />
      <SamplingLimits request={request} />
    </div>
  );
}

/** The most messages to render at first. The others render on demand. */
const fewMessages = 50;

interface TurnsProps {
  readonly messages: readonly SamplingMessage[];
  readonly texts: TextsAs;
  readonly keep: string;
}

function Turns({ messages, texts, keep }: TurnsProps) {
  const [all, setAll] = useState(false);
  const isLong = messages.length > fewMessages;
  const calls = callsOf(messages);
  const shown = all || !isLong ? messages : messages.slice(0, fewMessages);
  return (
    <>
      {shown.map(({ role, content = [] }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a turn has no name but its place.
        <div key={index} className="turn">
          <p className="turn-role">{role === "user" ? l10n.t("User") : l10n.t("Assistant")}</p>
          <ContentBlocks blocks={content} {...{ texts, calls }} keep={`${keep}:turn${index}`} />
        </div>
      ))}
      {isLong && (
        <button type="button" className="link" aria-expanded={all} onClick={() => setAll(!all)}>
          {all
            ? l10n.t("Show less")
            : l10n.t("Show all {0} messages", messages.length.toLocaleString())}
        </button>
      )}
    </>
  );
}

/** The tools that were called in a conversation, because a result names only its call. */
export function callsOf(messages: readonly SamplingMessage[]): ToolCalls {
  return new Map(
    messages
      .flatMap(({ content = [] }) => content)
      .flatMap((block) => (block.type === "tool_use" ? [[block.id, block.name] as const] : [])),
  );
}

export interface SamplingLimitsProps {
  readonly request: McpSamplingRequest;
  /** The editor shows these numbers already. */
  readonly edited?: boolean;
}

/** A server's options for the completion, without the conversation. */
export function SamplingLimits({ request, edited = false }: SamplingLimitsProps) {
  const { maxTokens, temperature, stopSequences = [], includeContext, metadata } = request;
  const limits: readonly (readonly [name: string, value: string | undefined])[] = [
    [l10n.t("Maximum tokens"), edited ? undefined : maxTokens.toLocaleString()],
    [l10n.t("Temperature"), edited ? undefined : temperature?.toString()],
    [l10n.t("Stop sequences"), stopSequences.map((text) => JSON.stringify(text)).join(", ")],
    [l10n.t("Context asked for"), includeContext],
    [l10n.t("Model preferences"), preferences(request.modelPreferences)],
  ];
  return (
    <>
      <dl className="values">
        {limits.map(
          ([name, value]) =>
            value !== undefined &&
            value !== "" && (
              <div key={name}>
                <dt>{name}</dt>
                <dd>
                  <Marked text={value} />
                </dd>
              </div>
            ),
        )}
      </dl>
      {metadata !== undefined && metadata !== null && (
        <div className="turn">
          <p className="turn-role">{l10n.t("Metadata")}</p>
          <Verbatim text={json(metadata)} />
        </div>
      )}
    </>
  );
}

function preferences(wishes: ModelPreferences | undefined): string {
  const hints = wishes?.hints?.flatMap(({ name }) => (name === undefined ? [] : [name])) ?? [];
  return [
    hints.length > 0
      ? l10n.t(
          "like {0}",
          hints.reduce((before, hint) => l10n.t("{0}, then {1}", before, hint)),
        )
      : undefined,
    priority(l10n.t("cost"), wishes?.costPriority),
    priority(l10n.t("speed"), wishes?.speedPriority),
    priority(l10n.t("intelligence"), wishes?.intelligencePriority),
  ]
    .filter((wish) => wish !== undefined)
    .join("; ");
}

function priority(name: string, value: number | undefined): string | undefined {
  return value === undefined ? undefined : `${name} ${value}`;
}
