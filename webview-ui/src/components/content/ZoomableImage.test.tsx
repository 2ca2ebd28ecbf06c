import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import { axeFindings } from "../../testing/axe.ts";
import { ZoomableImage } from "./ZoomableImage.tsx";

const src = "data:image/gif;base64,R0lGODlhAQABAAAAACw=";

test("an image is enlarged and closed with the keyboard, and the focus returns", async () => {
  const user = userEvent.setup();
  // Elsewhere in the panel, Escape has other meanings.
  const outside = vi.fn();
  const { container } = render(
    // biome-ignore lint/a11y/noStaticElementInteractions: it stands for the panel.
    <div onKeyDown={outside}>
      <ZoomableImage src={src} alt="A chart" onError={() => {}} />
    </div>,
  );
  await user.tab();
  await user.keyboard("{Enter}");
  outside.mockClear();
  const dialog = screen.getByRole("dialog", { name: "A chart" });
  expect(await axeFindings(container)).toEqual([]);
  const image = within(dialog).getByRole("img", { name: "A chart" });
  Object.defineProperty(image, "clientWidth", { value: 100 });
  expect(image.getAttribute("width")).toBeNull();
  await user.keyboard("+");
  expect(image.getAttribute("width")).toBe("150");
  await user.keyboard("--");
  expect(image.getAttribute("width")).toBe("67");
  await user.click(within(dialog).getByRole("button", { name: "Fit (0)" }));
  expect(image.getAttribute("width")).toBeNull();
  await user.keyboard("{Escape}");
  expect(screen.queryByRole("dialog")).toBeNull();
  expect(document.activeElement).toBe(screen.getByRole("button", { name: "Enlarge: A chart" }));
  expect(outside).not.toHaveBeenCalledWith(expect.objectContaining({ key: "Escape" }));
});

test("an enlarged image has bounds", async () => {
  const user = userEvent.setup();
  render(<ZoomableImage src={src} alt="A chart" onError={() => {}} />);
  await user.click(screen.getByRole("button", { name: "Enlarge: A chart" }));
  const dialog = screen.getByRole("dialog");
  const image = within(dialog).getByRole("img");
  Object.defineProperty(image, "clientWidth", { value: 7000 });
  await user.keyboard("+++");
  expect(image.getAttribute("width")).toBe("8000");
  await user.click(within(dialog).getByRole("button", { name: "Close (Escape)" }));
  expect(screen.queryByRole("dialog")).toBeNull();
});
