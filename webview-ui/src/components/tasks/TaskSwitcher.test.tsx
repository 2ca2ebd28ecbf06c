import type { Task } from "@assent/protocol";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import type { Actions } from "../../session.ts";
import { axeFindings } from "../../testing/axe.ts";
import { at, task } from "../../testing/samples.ts";
import { TaskSwitcher } from "./TaskSwitcher.tsx";

const many = Array.from({ length: 9 }, (_, n) => task({ id: `t${n}`, title: `Number ${n}` }));

function show(tasks = many) {
  const onOpen = vi.fn<(taskId: string) => void>();
  const onExport = vi.fn<(taskId: string) => void>();
  const onDelete = vi.fn<(deleted: Task) => void>();
  const onOpenMessage = vi.fn<(taskId: string, messageId: number) => void>();
  const onSearch = vi.fn<Actions["searchTasks"]>(async () => ({}));
  const onFind = vi.fn();
  const handlers = { onOpen, onOpenMessage, onSearch, onFind, onExport, onDelete };
  const drawn = render(<TaskSwitcher {...{ tasks }} {...handlers} open={tasks[0]} />);
  return { ...drawn, ...handlers, handlers, user: userEvent.setup() };
}

test("one of many tasks is found by its title, without a mouse", async () => {
  const { user, onOpen, container } = show();
  await user.click(screen.getByRole("button", { name: "Number 0" }));
  const filter = screen.getByRole("combobox", { name: "Find a task, or what was said in one" });
  expect(document.activeElement).toBe(filter);
  expect(await axeFindings(container)).toEqual([]);
  await user.keyboard("nothing");
  expect(screen.queryAllByRole("option")).toEqual([]);
  await screen.findByText("Nothing was found.");
  await user.keyboard("{Enter}");
  expect(onOpen).not.toHaveBeenCalled();
  await user.clear(filter);
  await user.keyboard("ber 7{Enter}");
  expect(onOpen).toHaveBeenCalledExactlyOnceWith("t7");
});

test("Escape leads back", async () => {
  const { user } = show(many.slice(0, 3));
  await user.click(screen.getByRole("button", { name: "Number 0" }));
  await user.keyboard("{Escape}");
  expect(document.activeElement).toBe(screen.getByRole("button", { name: "Number 0" }));
});

test("what was said is found too, and the message is opened with the keyboard", async () => {
  const { user, onSearch, onOpenMessage, container } = show();
  const hit = {
    taskId: "t3",
    title: "Number 3",
    messageId: 7,
    time: at,
    before: "the ",
    after: "…",
  };
  onSearch.mockResolvedValue({ hits: [{ ...hit, match: "Needle" }], truncated: true });
  await user.click(screen.getByRole("button", { name: "Number 0" }));
  await user.keyboard("n");
  expect(screen.getAllByRole("option")).toHaveLength(9);
  await user.keyboard("eedle");
  const found = await screen.findByRole("option", { name: /^Number 3/ });
  expect(found.querySelector("mark")?.textContent).toBe("Needle");
  screen.getByText("There may be more, in older messages.");
  expect(await axeFindings(container)).toEqual([]);
  expect(onSearch).toHaveBeenCalledExactlyOnceWith({ text: "needle" }, expect.any(AbortSignal));
  await user.keyboard("{Enter}");
  expect(onOpenMessage).toHaveBeenCalledExactlyOnceWith("t3", 7);
});

test("a search that fails says why", async () => {
  const { user, onSearch } = show();
  onSearch.mockRejectedValue(new Error("the store is damaged"));
  await user.click(screen.getByRole("button", { name: "Number 0" }));
  await user.keyboard("needle");
  await screen.findByText("Messages could not be searched: the store is damaged");
});

test("the open task is exported", async () => {
  const { user, onExport } = show();
  await user.click(screen.getByRole("button", { name: "Number 0" }));
  await user.click(screen.getByRole("button", { name: "Export This Task as Markdown" }));
  expect(onExport).toHaveBeenCalledExactlyOnceWith("t0");
  expect(screen.queryByRole("listbox")).toBeNull();
});

test("the open task is deleted, unless another window has it", async () => {
  const { user, onDelete, handlers, rerender } = show();
  await user.click(screen.getByRole("button", { name: "Number 0" }));
  await user.click(screen.getByRole("button", { name: "Delete This Task" }));
  expect(onDelete).toHaveBeenCalledExactlyOnceWith(many[0]);
  const away = task({ elsewhere: { window: "VS Code: api", since: 1 } });
  rerender(<TaskSwitcher tasks={[away]} open={away} {...handlers} />);
  await user.click(screen.getByRole("button", { name: "First" }));
  expect(screen.queryByRole("button", { name: "Delete This Task" })).toBeNull();
});

test("a task in which a model is at work says so", async () => {
  const { user } = show([task({ running: true })]);
  await user.click(screen.getByRole("button", { name: "First" }));
  screen.getByText(", the model is at work,");
});
