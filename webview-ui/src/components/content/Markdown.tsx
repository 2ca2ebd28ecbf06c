import * as l10n from "@vscode/l10n";
import type { ComponentProps, ReactNode } from "react";
import ReactMarkdown, { type Components } from "react-markdown";
import rehypeSanitize from "rehype-sanitize";
import remarkGfm from "remark-gfm";
import { visible } from "../../lib/visible.ts";
import { CodeBlock } from "./CodeBlock.tsx";
import { nothingHidden, webTarget } from "./rehypeRevealHidden.ts";
import { tooMuchMarkdown } from "./tooMuchMarkdown.ts";

export interface MarkdownProps {
  readonly text: string;
  /** Code blocks are highlighted and can be copied, unless the text is incomplete. */
  readonly code?: "plain" | "highlighted";
}

/**
 * Markdown of a foreign text. It loads nothing, runs nothing, and cannot pass for the panel itself: images are
 * described in words, links show their targets, and headings rank below the panel's own. It hides nothing either: the
 * person who approves a text sees what the model reads. A text that would take too long to parse is shown verbatim.
 */
export function Markdown({ text, code = "plain" }: MarkdownProps) {
  const seen = visible(text);
  if (tooMuchMarkdown(seen)) return <pre className="verbatim">{seen}</pre>;
  return (
    <div className="markdown">
      <ReactMarkdown
        remarkPlugins={remarkPlugins}
        rehypePlugins={rehypePlugins}
        components={code === "highlighted" ? highlighted : components}
      >
        {seen}
      </ReactMarkdown>
    </div>
  );
}

const remarkPlugins = [remarkGfm, nothingHidden];
const rehypePlugins = [rehypeSanitize];

const components: Components = {
  a: ({ href, children }) => <Link target={href}>{children}</Link>,
  img: ({ alt, src }) => <Picture alt={alt} source={typeof src === "string" ? src : undefined} />,
  input: ({ checked }) => (checked ? "[x]" : "[ ]"),
  h1: heading,
  h2: heading,
  h3: heading,
  h4: heading,
  h5: heading,
  h6: heading,
};

const highlighted: Components = {
  ...components,
  pre: ({ node, children }) => {
    const [code] = node?.children ?? [];
    if (code?.type !== "element" || code.tagName !== "code") return <pre>{children}</pre>;
    const text = code.children.map((child) => (child.type === "text" ? child.value : "")).join("");
    const names = code.properties["className"];
    const [name] = Array.isArray(names) ? names : [];
    const language = typeof name === "string" ? name.replace(/^language-/, "") : undefined;
    return <CodeBlock code={text.replace(/\n$/, "")} language={language} />;
  },
};

function heading({ children }: ComponentProps<"h3">) {
  return <h3>{children}</h3>;
}

/** The host opens a clicked link, so the target is visible. */
function Link({
  target,
  children,
}: {
  readonly target: string | undefined;
  readonly children: ReactNode;
}) {
  if (target === undefined || !webTarget.test(target)) return <span>{children}</span>;
  return (
    <>
      <a href={target} title={target} target="_blank" rel="noreferrer">
        {children}
      </a>
      {!says(children, target) && <span className="link-target"> ({target})</span>}
    </>
  );
}

function says(children: ReactNode, target: string): boolean {
  return typeof children === "string" && children === target;
}

function Picture({
  alt,
  source,
}: {
  readonly alt: string | undefined;
  readonly source: string | undefined;
}) {
  const name = alt === undefined || alt === "" ? l10n.t("image") : alt;
  return (
    <span className="picture">
      [{name}
      {source !== undefined && source !== "" && <span className="link-target"> ({source})</span>}]
    </span>
  );
}
