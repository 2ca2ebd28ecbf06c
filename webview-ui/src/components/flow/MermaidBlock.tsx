import { useEffect, useRef, useState } from "react";
import type { Drawing } from "./drawing.ts";
import { styleSheet, useLook, useStillness } from "./look.ts";
import { useWidth } from "./useWidth.ts";

export interface MermaidBlockProps {
  /** A sequence diagram in Mermaid's language. */
  readonly code: string;
  /** The participants that stand out. */
  readonly highlightNodes?: readonly string[];
  /** They pulse, unless the person wants things to keep still. */
  readonly animating?: boolean;
  /** What there is to see. It stands in the picture's place until, and unless, there is one. */
  readonly description: string;
  /** Draws a picture and returns its URL. */
  readonly draw?: (drawing: Drawing) => Promise<string>;
}

/** In pixels: narrower, a picture is shrunk; wider, it is no clearer. */
const narrowest = 200;
const widest = 560;

/** A diagram as an image: see drawImage.ts for why it is no more than that. */
export function MermaidBlock(props: MermaidBlockProps) {
  const { code, highlightNodes = [], animating = false, description, draw = drawLazily } = props;
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const look = useLook();
  const still = useStillness();
  const [image, setImage] = useState<string>();

  const { fontFamily, fontSize } = look;
  const css = styleSheet(look, animating && !still);
  const nodes = highlightNodes.join(" ");
  useEffect(() => {
    if (width === 0) return;
    let wanted = true;
    const show = (url: string | undefined) => {
      if (wanted) setImage(url);
    };
    draw({
      code,
      highlightNodes: nodes === "" ? [] : nodes.split(" "),
      width: Math.max(narrowest, Math.min(width, widest)),
      fontFamily,
      fontSize,
      css,
    }).then(
      show,
      // There is nothing for the person to do about it, and the words are there.
      () => show(undefined),
    );
    return () => {
      wanted = false;
    };
  }, [draw, code, nodes, width, fontFamily, fontSize, css]);

  return (
    <div ref={box} className="diagram">
      {image === undefined ? (
        <p className="muted">{description}</p>
      ) : (
        <img src={image} alt={description} onError={() => setImage(undefined)} />
      )}
    </div>
  );
}

async function drawLazily(drawing: Drawing): Promise<string> {
  const { drawImage } = await import("./drawImage.ts");
  return await drawImage(drawing);
}
