import * as l10n from "@vscode/l10n";
import { unreachable } from "../../lib/unreachable.ts";

/** The kinds of items to choose from. */
export type ItemKind = "tool" | "resource" | "template" | "prompt";

/** The texts of a choice's controls. */
export interface ItemWords {
  /** The label. */
  readonly label: string;
  readonly choose: string;
  readonly filter: string;
  /** The same with the number of items. */
  readonly filterMany: string;
}

/** The texts for a choice among n items of a kind. */
export function itemWords(kind: ItemKind, n: number): ItemWords {
  const many = n.toLocaleString();
  switch (kind) {
    case "tool":
      return {
        label: l10n.t("Tool"),
        choose: l10n.t("Choose a tool…"),
        filter: l10n.t("Filter the tools"),
        filterMany: l10n.t("Filter {0} tools", many),
      };
    case "resource":
      return {
        label: l10n.t("Resource"),
        choose: l10n.t("Choose a resource…"),
        filter: l10n.t("Filter the resources"),
        filterMany: l10n.t("Filter {0} resources", many),
      };
    case "template":
      return {
        label: l10n.t("Template"),
        choose: l10n.t("Choose a template…"),
        filter: l10n.t("Filter the templates"),
        filterMany: l10n.t("Filter {0} templates", many),
      };
    case "prompt":
      return {
        label: l10n.t("Prompt"),
        choose: l10n.t("Choose a prompt…"),
        filter: l10n.t("Filter the prompts"),
        filterMany: l10n.t("Filter {0} prompts", many),
      };
    default:
      return unreachable(kind);
  }
}
