import type { Code, Paragraph, Parents, Root, RootContent, Text } from "mdast";
import { SKIP, visit } from "unist-util-visit";

/** What Markdown was read from, as unified hands it to a plugin. */
interface Source {
  toString(): string;
}

/** Languages of code have names like these; a longer word after the fence is a message. */
const language = /^[\w+#.-]{1,20}$/;

/** What a link may lead to. */
export const webTarget = /^(https?|mailto):/i;

/**
 * A plugin for remark. Whoever approves a text must see all of it, and Markdown has many places for
 * words that are read and not drawn: HTML and its comments, titles, definitions that nobody refers to,
 * the targets of links that lead nowhere, what follows a fence, cells beyond the last column. All of
 * them are drawn letter by letter, as they were written.
 */
export function nothingHidden() {
  return (tree: Root, file: Source): void => {
    const source = file.toString();
    visit(tree, (node, index, parent) => {
      if (node.type === "table") {
        // A row's cells are drawn as far as there are columns.
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

/** Between words a text stays among them; what stands alone keeps its lines. */
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

/** Says whether a node holds words rather than blocks. */
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
