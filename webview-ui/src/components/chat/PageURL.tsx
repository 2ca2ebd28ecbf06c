import type { WebPage } from "./webPage.ts";

export interface PageURLProps {
  readonly page: WebPage;
}

/** A whole URL as text, which opens nothing, with whose page it is made to stand out. */
export function PageURL({ page: { before, domain, after } }: PageURLProps) {
  return (
    <p className="page-url" dir="ltr">
      {before}
      <strong>{domain}</strong>
      {after}
    </p>
  );
}
