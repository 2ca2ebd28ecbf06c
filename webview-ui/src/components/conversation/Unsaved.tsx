import * as l10n from "@vscode/l10n";
import { Icon } from "../ui/Icon.tsx";

/** Says that the message's current state is only in memory. */
export function Unsaved() {
  return (
    <p className="outcome">
      <Icon name="warning" />
      <span>
        <strong>{l10n.t("Not saved")}</strong>{" "}
        {l10n.t("Not saved to the disk yet. This is lost if Assent ends now.")}
      </span>
    </p>
  );
}
