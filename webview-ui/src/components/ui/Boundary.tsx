import { Component, type ReactNode } from "react";

export interface BoundaryProps {
  readonly children: ReactNode;
  /** Identifies what the children draw. A change draws them again. */
  readonly subject: unknown;
  /** Replaces children that cannot be drawn. It can try them again. */
  readonly instead: (problem: string, retry: () => void) => ReactNode;
}

interface State {
  readonly subject: unknown;
  readonly problem: string | undefined;
}

/** Contains errors of its children. */
export class Boundary extends Component<BoundaryProps, State> {
  override readonly state: State = { subject: this.props.subject, problem: undefined };

  static getDerivedStateFromProps({ subject }: BoundaryProps, state: State): State | null {
    return subject === state.subject ? null : { subject, problem: undefined };
  }

  static getDerivedStateFromError(error: unknown): Partial<State> {
    return { problem: error instanceof Error ? error.message : String(error) };
  }

  readonly #retry = (): void => this.setState({ problem: undefined });

  override render() {
    const { problem } = this.state;
    return problem === undefined ? this.props.children : this.props.instead(problem, this.#retry);
  }
}
