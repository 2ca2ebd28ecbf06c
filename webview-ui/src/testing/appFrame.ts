import { act, screen } from "@testing-library/react";
import { vi } from "vitest";

/** The app's end of a frame: the messages in both directions. */
export function frameOf(title: string) {
  const frame = screen.getByTitle<HTMLIFrameElement>(title);
  const { contentWindow } = frame;
  if (contentWindow === null) throw new Error("the frame has no window");
  const heard: unknown[] = [];
  vi.spyOn(contentWindow, "postMessage").mockImplementation((said: unknown) => {
    const { assentApp } = said as { readonly assentApp?: string };
    heard.push(assentApp === undefined ? said : JSON.parse(assentApp));
  });
  const post = (data: unknown, source: Window = contentWindow) =>
    act(async () => {
      window.dispatchEvent(new MessageEvent("message", { data, source, origin: "null" }));
    });
  const say = (said: object) => post({ assentApp: JSON.stringify({ jsonrpc: "2.0", ...said }) });
  return { frame, contentWindow, heard, post, say };
}
