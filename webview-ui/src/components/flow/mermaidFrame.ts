/**
 * The script of the drawing frame; {@link drawImage} creates the frame and explains it. Mermaid measures text in a live
 * document, so it needs its own.
 */
import mermaid from "mermaid";
import { type Drawing, type Drawn, highlighted } from "./drawing.ts";
import { maskEntities, unmaskEntities } from "./entities.ts";

const svgNamespace = "http://www.w3.org/2000/svg";
const id = "diagram";

// The Content-Security-Policy allows a constructed style sheet, but not a <style> element.
const sheet = new CSSStyleSheet();
document.adoptedStyleSheets = [sheet];

// Mermaid keeps its state in variables of its module, so it can draw one diagram at a time.
let last: Promise<void> = Promise.resolve();
addEventListener("message", ({ data, ports: [port] }: MessageEvent<Drawing>) => {
  last = last.then(async () => port?.postMessage(await drawn(data)));
});

async function drawn(drawing: Drawing): Promise<Drawn> {
  try {
    return { svg: await draw(drawing) };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  } finally {
    document.body.replaceChildren();
  }
}

/**
 * Draws with Mermaid's own parser and renderer, but builds the document itself. Mermaid's `render` parses the result as
 * HTML, which reports each style attribute as a violation of the policy, and its result is not well-formed XML.
 */
async function draw(drawing: Drawing): Promise<string> {
  const { code, highlightNodes, css } = drawing;
  mermaid.initialize({ ...configOf(drawing), securityLevel: "strict", startOnLoad: false });
  const masked = maskEntities(code);
  await mermaid.parse(masked);
  const diagram = await mermaid.mermaidAPI.getDiagramFromText(masked);
  const svg = document.createElementNS(svgNamespace, "svg");
  svg.id = id;
  svg.append(document.createElementNS(svgNamespace, "g"));
  document.body.append(svg);
  sheet.replaceSync(css);
  await diagram.renderer.draw(masked, id, "", diagram);
  svg.remove();

  for (const node of highlightNodes) {
    for (const part of svg.querySelectorAll(`[data-id="${CSS.escape(node)}"]`)) {
      part.classList.add(highlighted);
    }
  }
  unmaskEntities(svg);
  const style = document.createElementNS(svgNamespace, "style");
  style.textContent = css;
  svg.prepend(style);
  return new XMLSerializer().serializeToString(svg);
}

/** Participants that stand close together share the width. */
function configOf({ width, fontFamily, fontSize }: Drawing) {
  const margin = Math.max(6, width / 40);
  const participants = 4;
  const actorWidth = Math.floor((width - 2 * edge - (participants - 1) * margin) / participants);
  return {
    theme: "base",
    look: "classic",
    fontFamily,
    fontSize: fontSize - 1,
    sequence: {
      actorFontFamily: fontFamily,
      messageFontFamily: fontFamily,
      width: actorWidth,
      height: 2 * fontSize,
      actorMargin: Math.floor(margin),
      messageMargin: fontSize,
      boxMargin: 4,
      diagramMarginX: edge,
      diagramMarginY: edge,
      bottomMarginAdj: edge,
      wrap: true,
      wrapPadding: Math.floor(actorWidth / 14),
      mirrorActors: false,
      useMaxWidth: false,
    },
  } as const;
}

/** The space around the image in pixels, so that the pulsing line is not cut off. */
const edge = 4;
