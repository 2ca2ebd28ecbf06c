import { URLBox } from "../ui/URLBox.tsx";
import type { WebPage } from "./webPage.ts";

export interface PageURLProps {
  readonly page: WebPage;
}

/** A whole URL as text, which opens nothing, with whose page it is made to stand out. */
export function PageURL({ page: { before, domain, after } }: PageURLProps) {
  return (
    <URLBox>
      {before}
      <strong>{domain}</strong>
      {after}
    </URLBox>
  );
}
