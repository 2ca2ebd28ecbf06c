/** What a webview's page needs. */
export interface PageOptions {
  /** The URL of the folder with the built webview. */
  readonly base: string;
  /** The Content-Security-Policy source of that folder. */
  readonly source: string;
  /** A new random value for every page. */
  readonly nonce: string;
  /** Undefined if the panel is in English. */
  readonly translation?: Translation;
  /** The state that an earlier page stored, as JSON; undefined if there is none. */
  readonly view?: unknown;
}

/** The panel's texts in the person's language. */
export interface Translation {
  /** A BCP 47 tag. */
  readonly language: string;
  /** The translations, by the English texts. */
  readonly texts: Readonly<Record<string, string>>;
}

/**
 * Returns the webview's HTML. It allows only scripts with the nonce and styles of the webview's own folder, so that a
 * server's text can neither run nor load anything.
 */
export function page(options: PageOptions): string {
  const { base, source, nonce, translation } = options;
  // The page gets the texts with its HTML, so that it never shows English first.
  const texts =
    translation === undefined
      ? ""
      : ` data-texts="${forAttribute(JSON.stringify(translation.texts))}"`;
  const view =
    options.view === undefined ? "" : ` data-view="${forAttribute(JSON.stringify(options.view))}"`;
  const policy = [
    "default-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src ${source}`,
    `font-src ${source}`,
    `img-src ${source} data:`,
    "media-src data:",
    "frame-src http://127.0.0.1:* http://localhost:*",
  ].join("; ");
  return `<!DOCTYPE html>
<html lang="${forAttribute(translation?.language ?? "en")}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Assent</title>
<link rel="stylesheet" href="${base}/main.css">
</head>
<body data-host="vscode"${texts}${view}>
<div id="root"></div>
<script type="module" nonce="${nonce}" src="${base}/main.js"></script>
</body>
</html>
`;
}

function forAttribute(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");
}
