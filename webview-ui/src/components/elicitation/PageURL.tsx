import { URLBox } from "../ui/URLBox.tsx";
import type { WebPage } from "./webPage.ts";

export interface PageURLProps {
  readonly page: WebPage;
}

/** A whole URL as text, not as a link, with the owner's domain emphasised. */
export function PageURL({ page: { before, domain, after } }: PageURLProps) {
  return (
    <URLBox>
      {before}
      <strong>{domain}</strong>
      {after}
    </URLBox>
  );
}
