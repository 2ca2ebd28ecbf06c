import type { Code, Paragraph, Parents, Root, RootContent, Text } from "mdast";
import { SKIP, visit } from "unist-util-visit";

/** The Markdown source, as unified passes it to a plugin. */
interface Source {
  toString(): string;
}

/** The form of a language's name. Longer text after a fence may be a message. */
const language = /^[\w+#.-]{1,20}$/;

/** The allowed targets of links. */
export const webTarget = /^(https?|mailto):/i;

/**
 * A plugin for remark. A person who approves a text must see all of it, but Markdown has many places for words that are
 * not rendered: HTML and its comments, titles, unused definitions, the targets of blocked links, text after a fence,
 * cells beyond the last column. This plugin shows all of them verbatim.
 */
export function nothingHidden() {
  return (tree: Root, file: Source): void => {
    const source = file.toString();
    visit(tree, (node, index, parent) => {
      if (node.type === "table") {
        // Cells beyond the last column are not rendered.
        const widest = Math.max(...node.children.map((row) => row.children.length));
        const align = node.align ?? [];
        node.align = [...align, ...Array<null>(Math.max(0, widest - align.length)).fill(null)];
      }
      const from = node.position?.start.offset;
      const to = node.position?.end.offset;
      if (parent === undefined || index === undefined || from === undefined || to === undefined) {
        return undefined;
      }
      if (!hides(node)) return undefined;
      parent.children[index] = verbatim(node, parent, source.slice(from, to));
      return SKIP;
    });
  };
}

function hides(node: Root | RootContent): boolean {
  switch (node.type) {
    case "html":
    case "definition":
    case "footnoteDefinition":
    case "footnoteReference":
      return true;
    case "link":
      return isSet(node.title) || !webTarget.test(node.url);
    case "image":
      return isSet(node.title);
    case "code":
      return isSet(node.meta) || (isSet(node.lang) && !language.test(node.lang));
    default:
      return false;
  }
}

function isSet(text: string | null | undefined): text is string {
  return text !== null && text !== undefined && text !== "";
}

/** Inline text stays in its line. Text on its own keeps its line breaks. */
function verbatim(
  node: Root | RootContent,
  parent: Parents,
  value: string,
): Code | Paragraph | Text {
  const text: Text = { type: "text", value };
  if (isPhrasing(parent)) return text;
  if (node.type === "html" || node.type === "code") return { type: "code", value };
  return { type: "paragraph", children: [text] };
}

/** Reports whether a node contains inline content rather than blocks. */
function isPhrasing({ type }: Parents): boolean {
  switch (type) {
    case "root":
    case "blockquote":
    case "list":
    case "listItem":
    case "footnoteDefinition":
    case "table":
    case "tableRow":
      return false;
    default:
      return true;
  }
}
