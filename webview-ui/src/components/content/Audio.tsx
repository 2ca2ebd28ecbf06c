import * as l10n from "@vscode/l10n";
import { useState } from "react";
import { visible } from "../../lib/visible.ts";
import { bytes } from "./base64.ts";
import { essenceOf } from "./imageType.ts";

export interface AudioProps {
  /** The sound, in base64. */
  readonly data: string;
  readonly mimeType: string;
}

/** A longer sound, in characters of base64, is not given to the browser, which would decode it in one piece. */
const longest = 16_000_000;

/** A sound of a server, with the browser's own controls. It plays only when the person says so. */
export function Audio({ data, mimeType }: AudioProps) {
  const [broken, setBroken] = useState(false);
  const type = essenceOf(mimeType);
  if (broken || data.length > longest || !type.startsWith("audio/")) {
    return (
      <p className="muted">
        {data.length > longest
          ? l10n.t("This audio is too long to play here: {0}, {1}.", visible(mimeType), bytes(data))
          : l10n.t("Cannot play this audio: {0}, {1}.", visible(mimeType), bytes(data))}
      </p>
    );
  }
  return (
    // biome-ignore lint/a11y/useMediaCaption: MCP has no captions.
    <audio
      controls
      preload="metadata"
      aria-label={l10n.t("Audio from the server, {0}, {1}", type, bytes(data))}
      src={`data:${type};base64,${data}`}
      onError={() => setBroken(true)}
    />
  );
}
