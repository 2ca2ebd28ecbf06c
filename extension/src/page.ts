/** What a webview's page needs. */
export interface PageOptions {
  /** The URL of the folder with the built webview. */
  readonly base: string;
  /** The Content-Security-Policy source of that folder. */
  readonly source: string;
  /** Fresh for every page. */
  readonly nonce: string;
  /** Absent where the panel is English. */
  readonly translation?: Translation;
  /** What an earlier page had its host keep, as JSON has it; absent where there was none. */
  readonly view?: unknown;
}

/** What the panel says, in the person's language. */
export interface Translation {
  /** A BCP 47 tag. */
  readonly language: string;
  /** The texts, by the English ones. */
  readonly texts: Readonly<Record<string, string>>;
}

/**
 * The webview's HTML. Only scripts with the nonce and styles of the webview's own folder are
 * allowed; what a server sends can neither run nor load anything.
 */
export function page(options: PageOptions): string {
  const { base, source, nonce, translation } = options;
  // The page has them from the start, so that nothing is English first.
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
