import type { PageToOpen } from "@assent/protocol/host";
import * as l10n from "@vscode/l10n";
import { Banner } from "../ui/Banner.tsx";

export interface PageBannerProps {
  readonly page: PageToOpen;
  readonly onDone: (opened: boolean) => void;
}

/** A page that the sidecar wants to open. The person sees the whole URL and may click it. */
export function PageBanner({ page, onDone }: PageBannerProps) {
  return (
    <Banner
      level="info"
      actions={
        <button type="button" className="secondary" onClick={() => onDone(false)}>
          {l10n.t("Do Not Open")}
        </button>
      }
    >
      <p>{page.reason}</p>
      <a href={page.url} target="_blank" rel="noreferrer" onClick={() => onDone(true)}>
        {page.url}
      </a>
    </Banner>
  );
}
