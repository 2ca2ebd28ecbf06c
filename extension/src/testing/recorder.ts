import type { Stream } from "../chatTurn.ts";

/** A link in an answer of VS Code's chat. */
export interface Link {
  readonly title: string;
  readonly taskId: string;
  readonly messageId: number | undefined;
}

/** A fake answer of VS Code's chat. It records the shown parts. */
export class Recorder implements Stream {
  text = "";
  readonly lines: string[] = [];
  readonly links: Link[] = [];
  #onLink: (link: Link) => void = () => {};

  markdown(text: string): void {
    this.text += text;
  }

  progress(text: string): void {
    this.lines.push(text);
  }

  link(title: string, taskId: string, messageId?: number): void {
    const link = { title, taskId, messageId };
    this.links.push(link);
    this.#onLink(link);
  }

  /** Calls back with every link. */
  onLink(listener: (link: Link) => void): void {
    this.#onLink = listener;
  }
}
