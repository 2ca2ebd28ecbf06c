import type { McpSamplingRequest, ModelPreferences, SamplingMessage } from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { type ReactNode, useContext, useState } from "react";
import { json } from "../../lib/format.ts";
import { plural } from "../../lib/l10n.ts";
import { contentText, plain } from "../../timeline/subject.ts";
import { ContentBlocks, Text, type ToolCalls, Verbatim } from "../content/ContentBlocks.tsx";
import { Marked, SecretsContext } from "../content/Marked.tsx";
import { type TextsAs, useTexts } from "../content/useTexts.tsx";
import { showsMore } from "../ui/Clamp.tsx";
import { Disclosure } from "../ui/Disclosure.tsx";
import { SamplingTools } from "./SamplingTools.tsx";

export interface SamplingDetailsProps {
  readonly request: McpSamplingRequest;
  readonly keep: string;
  /** The person is asked to send it: what the user says last comes first, and the rest is folded. */
  readonly lastFirst?: boolean;
}

/** All parts of a sampling request that its server wrote. */
export function SamplingDetails({ request, keep, lastFirst = false }: SamplingDetailsProps) {
  const { messages = [], systemPrompt = "" } = request;
  const [texts, toggle] = useTexts(keep);
  const turns = { texts, calls: callsOf(messages), keep };
  // The messages before this one are the conversation so far.
  const from = lastFirst
    ? Math.max(
        0,
        messages.findLastIndex(({ role }) => role === "user"),
      )
    : 0;
  const earlier = messages.slice(0, from);
  return (
    <div className="sampling-details">
      {toggle}
      {!lastFirst && systemPrompt !== "" && (
        <div className="turn">
          <p className="turn-role">{l10n.t("System prompt")}</p>
          <Text text={systemPrompt} texts={texts} keep={`${keep}:system`} />
        </div>
      )}
      <Turns messages={messages.slice(from)} {...{ from }} {...turns} />
      {lastFirst && systemPrompt !== "" && (
        <Folded keep={`${keep}:systemFold`} label={l10n.t("System prompt:")} begins={systemPrompt}>
          <Text text={systemPrompt} texts={texts} keep={`${keep}:system`} />
        </Folded>
      )}
      {earlier.length > 0 && (
        <Folded
          keep={`${keep}:earlier`}
          label={plural(
            earlier.length,
            l10n.t("1 earlier message:"),
            l10n.t("{0} earlier messages:"),
          )}
          begins={contentText(earlier.at(-1)?.content ?? [])}
        >
          <Turns messages={earlier} from={0} {...turns} />
        </Folded>
      )}
      <SamplingTools {...{ request, texts, keep }} />
      <SamplingLimits request={request} />
    </div>
  );
}

interface FoldedProps {
  readonly keep: string;
  readonly label: string;
  /** Its beginning stands in the line. */
  readonly begins: string;
  readonly children: ReactNode;
}

/** A part of a request in one line, which opens. It is open if the request has secrets, which are marked in it. */
function Folded({ keep, label, begins, children }: FoldedProps) {
  const hasSecrets = useContext(SecretsContext).length > 0;
  return (
    <Disclosure
      {...{ keep }}
      initiallyOpen={hasSecrets}
      summary={
        <>
          {label} {!hasSecrets && <q>{plain(begins)}</q>}
        </>
      }
    >
      {children}
    </Disclosure>
  );
}

/** The most messages to render at first. The others render on demand. */
const fewMessages = 50;

interface TurnsProps {
  readonly messages: readonly SamplingMessage[];
  /** The place of the first one in the request. */
  readonly from: number;
  readonly texts: TextsAs;
  readonly calls: ToolCalls;
  readonly keep: string;
}

function Turns({ messages, from, texts, calls, keep }: TurnsProps) {
  const [all, setAll] = useState(false);
  const isLong = messages.length > fewMessages;
  const shown = all || !isLong ? messages : messages.slice(0, fewMessages);
  return (
    <>
      {shown.map(({ role, content = [] }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a turn has no name but its place.
        <div key={index} className="turn">
          <p className="turn-role">{role === "user" ? l10n.t("User") : l10n.t("Assistant")}</p>
          <ContentBlocks
            blocks={content}
            {...{ texts, calls }}
            keep={`${keep}:turn${from + index}`}
          />
        </div>
      ))}
      {isLong && (
        <button
          type="button"
          className="link"
          aria-expanded={all}
          {...(!all && showsMore)}
          onClick={() => setAll(!all)}
        >
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

/** A server's options for the completion, without the conversation. The line above it says how many tokens at most. */
export function SamplingLimits({ request, edited = false }: SamplingLimitsProps) {
  const { temperature, stopSequences = [], includeContext, metadata } = request;
  const limits: readonly (readonly [name: string, value: string | undefined])[] = [
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
