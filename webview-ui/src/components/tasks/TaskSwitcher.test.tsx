import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import { axeFindings } from "../../testing/axe.ts";
import { task } from "../../testing/samples.ts";
import { TaskSwitcher } from "./TaskSwitcher.tsx";

const many = Array.from({ length: 9 }, (_, n) => task({ id: `t${n}`, title: `Number ${n}` }));

function show(tasks = many) {
  const onOpen = vi.fn<(taskId: string) => void>();
  const onExport = vi.fn<(taskId: string) => void>();
  const drawn = render(<TaskSwitcher {...{ tasks, onOpen, onExport }} open={tasks[0]} />);
  return { ...drawn, onOpen, onExport, user: userEvent.setup() };
}

test("one of many tasks is found by its title, without a mouse", async () => {
  const { user, onOpen, container } = show();
  await user.click(screen.getByRole("button", { name: "Number 0" }));
  const filter = screen.getByRole("combobox", { name: "Find a task by its title" });
  expect(document.activeElement).toBe(filter);
  expect(await axeFindings(container)).toEqual([]);
  await user.keyboard("nothing");
  expect(screen.queryAllByRole("option")).toEqual([]);
  screen.getByText("No task has that in its title.");
  await user.keyboard("{Enter}");
  expect(onOpen).not.toHaveBeenCalled();
  await user.clear(filter);
  await user.keyboard("ber 7{Enter}");
  expect(onOpen).toHaveBeenCalledExactlyOnceWith("t7");
});

test("few tasks need no filter, and Escape leads back", async () => {
  const { user } = show(many.slice(0, 3));
  await user.click(screen.getByRole("button", { name: "Number 0" }));
  expect(screen.queryByRole("combobox")).toBeNull();
  expect(document.activeElement).toBe(screen.getByRole("listbox", { name: "Tasks" }));
  await user.keyboard("{Escape}");
  expect(document.activeElement).toBe(screen.getByRole("button", { name: "Number 0" }));
});

test("the open task is exported", async () => {
  const { user, onExport } = show();
  await user.click(screen.getByRole("button", { name: "Number 0" }));
  await user.click(screen.getByRole("button", { name: "Export This Task as Markdown" }));
  expect(onExport).toHaveBeenCalledExactlyOnceWith("t0");
  expect(screen.queryByRole("listbox")).toBeNull();
});

test("a task in which a model is at work says so", async () => {
  const { user } = show([task({ running: true })]);
  await user.click(screen.getByRole("button", { name: "First" }));
  screen.getByText(", the model is at work,");
});
