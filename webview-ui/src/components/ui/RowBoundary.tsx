import * as l10n from "@vscode/l10n";
import { Component, type ReactNode } from "react";
import { Refusal } from "./Refusal.tsx";

export interface RowBoundaryProps {
  readonly children: ReactNode;
}

/** Keeps a defect in drawing one message from taking the panel with it. */
export class RowBoundary extends Component<RowBoundaryProps, { readonly message?: string }> {
  override readonly state: { readonly message?: string } = {};

  static getDerivedStateFromError(error: unknown) {
    return { message: error instanceof Error ? error.message : String(error) };
  }

  override render() {
    const { message } = this.state;
    return message === undefined ? (
      this.props.children
    ) : (
      <Refusal message={l10n.t("This message cannot be shown: {0}", message)} />
    );
  }
}
