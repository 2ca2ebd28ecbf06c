import type {
  ContentBlock,
  EmbeddedResource,
  ToolResultContent,
  ToolUseContent,
} from "@assent/protocol";
import * as l10n from "@vscode/l10n";
import { useState } from "react";
import { json } from "../../lib/format.ts";
import { filled } from "../../lib/l10n.ts";
import { unreachable } from "../../lib/unreachable.ts";
import { visible } from "../../lib/visible.ts";
import { Clamp } from "../ui/Clamp.tsx";
import { Disclosure } from "../ui/Disclosure.tsx";
import { Icon } from "../ui/Icon.tsx";
import { Audio } from "./Audio.tsx";
import { bytes } from "./base64.ts";
import { drawableType, essenceOf } from "./imageType.ts";
import { LinkedResource } from "./LinkedResource.tsx";
import { LongVerbatim } from "./LongVerbatim.tsx";
import { Markdown } from "./Markdown.tsx";
import { useHasSecret } from "./Marked.tsx";
import { fromBase64 } from "./readFile.ts";
import type { TextsAs } from "./useTexts.tsx";
import { Verbatim } from "./Verbatim.tsx";
import { ZoomableImage } from "./ZoomableImage.tsx";

export { Verbatim };

export interface ContentBlocksProps {
  readonly blocks: readonly ContentBlock[];
  /** A conversation's texts are Markdown. A tool's result is shown verbatim. */
  readonly texts: TextsAs;
  /** The names of the called tools, by the ids of their calls. */
  readonly calls?: ToolCalls | undefined;
  /** Names the blocks in the view's state; unique in the panel. */
  readonly keep: string;
}

export type ToolCalls = ReadonlyMap<string, string>;

/** MCP content of every type. It fetches nothing and omits nothing. */
export function ContentBlocks({ blocks, texts, calls, keep }: ContentBlocksProps) {
  return (
    <div className="content-blocks">
      {blocks.map((block, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a block has no name but its place.
        <Block key={index} block={block} texts={texts} calls={calls} keep={`${keep}:${index}`} />
      ))}
    </div>
  );
}

interface BlockProps extends Omit<ContentBlocksProps, "blocks"> {
  readonly block: ContentBlock;
}

function Block({ block, texts, calls, keep }: BlockProps) {
  switch (block.type) {
    case "text":
      return <Text text={block.text} texts={texts} keep={keep} />;
    case "image":
      return <Picture data={block.data} mimeType={block.mimeType} keep={keep} />;
    case "audio":
      return <Audio data={block.data} mimeType={block.mimeType} />;
    case "resource_link":
      return <LinkedResource link={block} />;
    case "resource":
      return <Resource block={block} keep={keep} />;
    case "tool_use":
      return <ToolUse use={block} keep={keep} />;
    case "tool_result":
      return (
        <ToolReturned result={block} name={calls?.get(block.toolUseId)} {...{ texts, keep }} />
      );
    case "unknown": {
      const text = json(block.raw);
      return (
        <Clamp keep={keep} text={text}>
          <p className="muted">{l10n.t("Content of an unknown type:")}</p>
          <Verbatim text={text} />
        </Clamp>
      );
    }
    default:
      return unreachable(block);
  }
}

interface TextProps {
  readonly text: string;
  readonly texts: TextsAs;
  readonly keep: string;
}

/** A text. With a secret in it, it is shown verbatim, so that the whole secret can be marked. */
export function Text({ text, texts, keep }: TextProps) {
  const hasSecret = useHasSecret(text);
  return (
    <Clamp keep={keep} text={text}>
      {hasSecret ? (
        <Verbatim text={text} />
      ) : texts === "plain" ? (
        <LongVerbatim text={text} />
      ) : (
        <Markdown text={text} />
      )}
    </Clamp>
  );
}

interface ToolUseProps {
  readonly use: ToolUseContent;
  readonly keep: string;
}

/** A tool call that a model requests, or requested earlier in the conversation. */
export function ToolUse({ use: { name, input }, keep }: ToolUseProps) {
  const text = json(input);
  return (
    <div className="tool-block">
      <p>
        <Icon name="tools" />
        <span>
          {filled(
            l10n.t("Calls the tool {0} with"),
            <strong className="name">{visible(name)}</strong>,
          )}
        </span>
      </p>
      <Clamp keep={keep} text={text}>
        <Verbatim text={text} />
      </Clamp>
    </div>
  );
}

interface ToolReturnedProps extends Omit<ContentBlocksProps, "blocks"> {
  readonly result: ToolResultContent;
  /** The tool's name; undefined if the call is not in the conversation. */
  readonly name: string | undefined;
}

function ToolReturned({ result, name, texts, keep }: ToolReturnedProps) {
  const { toolUseId, content = [], structuredContent, isError = false } = result;
  const who =
    name === undefined ? visible(toolUseId) : <strong className="name">{visible(name)}</strong>;
  const words = returnedWords(name !== undefined, isError);
  return (
    <div className="tool-block">
      <p className={isError ? "tool-failed" : undefined}>
        <Icon name={isError ? "error" : "output"} />
        <span>{filled(words, who)}</span>
      </p>
      {content.length === 0 && structuredContent === undefined && (
        <p className="muted">{l10n.t("No content.")}</p>
      )}
      {content.length > 0 && <ContentBlocks blocks={content} texts={texts} keep={keep} />}
      {structuredContent !== undefined && (
        <Clamp keep={`${keep}:structured`} text={json(structuredContent)}>
          <Verbatim text={json(structuredContent)} />
        </Clamp>
      )}
    </div>
  );
}

/** The heading of a call's result: with the tool's name, or else with the call's id. */
function returnedWords(isNamed: boolean, isError: boolean): string {
  if (isNamed) return isError ? l10n.t("The tool {0} failed") : l10n.t("The tool {0} returned");
  return isError ? l10n.t("Tool call {0} failed") : l10n.t("Tool call {0} returned");
}

interface MediaProps {
  readonly data: string;
  readonly mimeType: string;
}

export interface PictureProps extends MediaProps {
  /** The image's alternative text; without it, its type and size. */
  readonly alt?: string;
  /** Names the picture in the view's state; unique in the panel. */
  readonly keep: string;
}

/**
 * An image of a server, a model or a person. An SVG file is offered as text instead, because it can keep a browser busy
 * forever.
 */
export function Picture({ data, mimeType, alt, keep }: PictureProps) {
  const [broken, setBroken] = useState(false);
  if (essenceOf(mimeType) === "image/svg+xml") return <SVGFile data={data} keep={keep} />;
  const type = drawableType(data);
  if (broken || type === undefined) {
    return (
      <Undrawn>
        {l10n.t("Cannot show this image: {0}, {1}.", visible(mimeType), bytes(data))}
      </Undrawn>
    );
  }
  return (
    <ZoomableImage
      src={`data:${type};base64,${data}`}
      alt={alt ?? l10n.t("From the server, {0}, {1}", type, bytes(data))}
      onError={() => setBroken(true)}
    />
  );
}

function SVGFile({ data, keep }: { readonly data: string; readonly keep: string }) {
  return (
    <div>
      <Undrawn>{l10n.t("An SVG file, {0}. Assent does not draw it.", bytes(data))}</Undrawn>
      <Disclosure keep={`${keep}:svg`} summary={l10n.t("Show as Text")}>
        <Base64Text data={data} keep={`${keep}:svg-text`} />
      </Disclosure>
    </div>
  );
}

function Base64Text({ data, keep }: { readonly data: string; readonly keep: string }) {
  const text = textOfBase64(data);
  if (text === undefined) return <Undrawn>{l10n.t("It is not valid base64.")}</Undrawn>;
  return (
    <Clamp keep={keep} text={text}>
      <Verbatim text={text} />
    </Clamp>
  );
}

function textOfBase64(data: string): string | undefined {
  try {
    return new TextDecoder().decode(fromBase64(data));
  } catch {
    return undefined;
  }
}

function Undrawn({ children }: { readonly children: string }) {
  return <p className="muted">{children}</p>;
}

function Resource({ block, keep }: { readonly block: EmbeddedResource; readonly keep: string }) {
  const { uri, mimeType = l10n.t("unknown type"), text, blob } = block.resource;
  return (
    <div className="resource">
      <span className="link-target">{visible(uri)}</span>
      {text !== undefined && (
        <Clamp keep={keep} text={text}>
          <Verbatim text={text} />
        </Clamp>
      )}
      {blob !== undefined &&
        (essenceOf(mimeType).startsWith("image/") ? (
          <Picture data={blob} mimeType={mimeType} keep={keep} />
        ) : essenceOf(mimeType).startsWith("audio/") ? (
          <Audio data={blob} mimeType={mimeType} />
        ) : (
          <Undrawn>
            {l10n.t("Cannot show this file: {0}, {1}.", visible(mimeType), bytes(blob))}
          </Undrawn>
        ))}
    </div>
  );
}
