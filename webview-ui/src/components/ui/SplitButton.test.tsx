import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import { axeFindings } from "../../testing/axe.ts";
import { SplitButton, type SplitButtonProps } from "./SplitButton.tsx";

function show(part: Partial<SplitButtonProps> = {}) {
  const onClick = vi.fn();
  const once = vi.fn();
  const always = vi.fn();
  const drawn = render(
    <SplitButton
      kind="primary"
      label="Allow"
      moreLabel="More Ways to Allow"
      ready
      onClick={onClick}
      entries={[
        { label: "Allow once", onChoose: once },
        { label: "Always allow", about: "In every task.", onChoose: always },
      ]}
      {...part}
    />,
  );
  return { ...drawn, onClick, once, always, user: userEvent.setup() };
}

const more = () => screen.getByRole("button", { name: "More Ways to Allow" });
const entry = (name: string) => screen.getByRole("menuitem", { name });
const menu = () => screen.queryByRole("menu");

test("its button does the one thing, and its menu the others", async () => {
  const { user, onClick, once, always, container } = show();
  await user.click(screen.getByRole("button", { name: "Allow" }));
  expect(onClick).toHaveBeenCalledOnce();
  await user.click(more());
  screen.getByText("In every task.");
  expect(await axeFindings(container)).toEqual([]);
  await user.click(entry("Always allow"));
  expect([once, always].map((way) => way.mock.calls.length)).toEqual([0, 1]);
  expect(menu()).toBeNull();
  expect(document.activeElement).toBe(more());
});

test("is used with the keyboard alone", async () => {
  const { user, always } = show();
  await user.tab();
  await user.tab();
  await user.keyboard("{ArrowDown}");
  expect(more().getAttribute("aria-expanded")).toBe("true");
  expect(document.activeElement).toBe(entry("Allow once"));
  await user.keyboard("{ArrowUp}");
  expect(document.activeElement).toBe(entry("Always allow"));
  await user.keyboard("{ArrowDown}");
  expect(document.activeElement).toBe(entry("Allow once"));
  await user.keyboard("{End}{Enter}");
  expect(always).toHaveBeenCalledOnce();
});

test("Escape closes the menu alone, and gives the focus back", async () => {
  const onKeyDown = vi.fn();
  const { user, once, always } = show();
  document.body.addEventListener("keydown", ({ defaultPrevented }) => onKeyDown(defaultPrevented), {
    once: true,
  });
  await user.click(more());
  await user.keyboard("{Escape}");
  expect(menu()).toBeNull();
  expect(onKeyDown).toHaveBeenCalledExactlyOnceWith(true);
  expect(document.activeElement).toBe(more());
  for (const way of [once, always]) expect(way).not.toHaveBeenCalled();
});

test("its menu closes when the focus goes elsewhere", async () => {
  const { user } = show();
  await user.click(more());
  await user.click(document.body);
  expect(menu()).toBeNull();
});

test("does nothing before it is ready, and cannot be used while it is busy", async () => {
  const { user, onClick, once, unmount } = show({ ready: false });
  await user.click(screen.getByRole("button", { name: "Allow" }));
  await user.click(more());
  await user.click(entry("Allow once"));
  expect(onClick).not.toHaveBeenCalled();
  expect(once).not.toHaveBeenCalled();
  unmount();
  show({ busy: true });
  expect(more().matches(":disabled")).toBe(true);
});

test("without a menu it is a button", () => {
  show({ entries: [] });
  expect(screen.getAllByRole("button")).toHaveLength(1);
});
