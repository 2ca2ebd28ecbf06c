/** The part of VS Code's Memento that is used here. */
export interface State {
  get(key: string): unknown;
  update(key: string, value: unknown): Thenable<void>;
}
