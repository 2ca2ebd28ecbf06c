import { render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import type { Actions } from "../../store/session.ts";
import { MemoryStorage, showApp } from "../../testing/app.tsx";
import { axeFindings } from "../../testing/axe.ts";
import { FakeHost } from "../../testing/host.ts";
import { at, task } from "../../testing/samples.ts";
import { TaskSwitcher } from "./TaskSwitcher.tsx";

const many = Array.from({ length: 9 }, (_, n) => task({ id: `t${n}`, title: `Number ${n}` }));

function show(tasks = many) {
  const onOpen = vi.fn<(taskId: string) => void>();
  const onOpenMessage = vi.fn<(taskId: string, messageId: number) => void>();
  const onSearch = vi.fn<Actions["searchTasks"]>(async () => ({}));
  const handlers = { onOpen, onOpenMessage, onSearch };
  const drawn = render(<TaskSwitcher {...{ tasks }} {...handlers} open={tasks[0]} />);
  return { ...drawn, ...handlers, user: userEvent.setup() };
}

test("one of many tasks is found by its title, without a mouse", async () => {
  const { user, onOpen, container } = show();
  await user.click(screen.getByRole("button", { name: "Number 0" }));
  const filter = screen.getByRole("combobox", { name: "Find tasks by title or message" });
  expect(document.activeElement).toBe(filter);
  expect(await axeFindings(container)).toEqual([]);
  await user.keyboard("nothing");
  expect(screen.queryAllByRole("option")).toEqual([]);
  await screen.findByText("No results found.");
  await user.keyboard("{Enter}");
  expect(onOpen).not.toHaveBeenCalled();
  await user.clear(filter);
  await user.keyboard("ber 7{Enter}");
  expect(onOpen).toHaveBeenCalledExactlyOnceWith("t7");
});

test("tasks of one title are told apart by the second at which they began", async () => {
  const twins = [
    task({ id: "t3", title: "Plan lunch", createdAt: at + 2000, closed: true }),
    task({ id: "t2", title: "Plan lunch", createdAt: at + 1000 }),
    task({ id: "t1", title: "Deploy", createdAt: at }),
  ];
  const { user } = show(twins);
  await user.click(screen.getByRole("button", { name: "Plan lunch" }));
  const [newer, older, other] = screen.getAllByRole("option").map((one) => one.textContent);
  expect(newer).toMatch(/closed · .*:02/);
  expect(older).toMatch(/:01/);
  expect(other).not.toMatch(/:00/);
});

test("Escape leads back", async () => {
  const { user } = show(many.slice(0, 3));
  await user.click(screen.getByRole("button", { name: "Number 0" }));
  await user.keyboard("{Escape}");
  expect(document.activeElement).toBe(screen.getByRole("button", { name: "Number 0" }));
});

test("finds messages too, and opens one with the keyboard", async () => {
  const { user, onSearch, onOpenMessage, container } = show();
  const hit = {
    taskId: "t3",
    title: "Number 3",
    messageId: 7,
    time: at,
    before: "the ",
    after: "…",
  };
  const hits = [
    { ...hit, match: "Needle" },
    { ...hit, messageId: 5, match: "needle" },
  ];
  onSearch.mockResolvedValue({ hits, truncated: true });
  await user.click(screen.getByRole("button", { name: "Number 0" }));
  await user.keyboard("n");
  expect(screen.getAllByRole("option")).toHaveLength(9);
  await user.keyboard("eedle");
  const [found, again] = await screen.findAllByRole("option", { name: /^Number 3/ });
  expect(found?.querySelector("mark")?.textContent).toBe("Needle");
  const titles = [found, again].map((option) => option && within(option).getByText("Number 3"));
  const seen = titles.map((title) => title?.closest(".visually-hidden") === null);
  expect(seen).toEqual([true, false]);
  await screen.findByText("There may be more, in older messages.");
  expect(await axeFindings(container)).toEqual([]);
  expect(onSearch).toHaveBeenLastCalledWith({ text: "needle" }, expect.any(AbortSignal));
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

test("a task in which a model is at work says so", async () => {
  const { user } = show([task({ running: true })]);
  await user.click(screen.getByRole("button", { name: "First" }));
  screen.getByText(", the model is at work,");
});

test("a task in which nothing has happened is in no list, and New Task leads back to it", async () => {
  const used = task({ id: "t1", title: "Used" });
  const ofOther = task({ id: "t2", title: "" });
  const own = task({ id: "t3", title: "" });
  const byId = new Map([used, ofOther, own].map((each) => [each.id, each]));
  const host = new FakeHost(used, [], {
    "task/list": () => ({ tasks: [ofOther, used] }),
    "task/create": () => own,
    "task/open": ({ taskId }) => ({ task: byId.get(taskId) ?? used, messages: [], reset: true }),
  });
  const { user } = showApp(host, new MemoryStorage());
  const onlyUsed = async () => {
    await user.click(await screen.findByRole("button", { name: "Used" }));
    const list = within(screen.getByRole("listbox", { name: "Tasks" }));
    expect(list.getAllByRole("option")).toHaveLength(1);
  };
  await onlyUsed();
  await user.keyboard("{Escape}");
  const opensNew = async () => {
    await user.click(screen.getByRole("button", { name: "New Task" }));
    await screen.findByRole("button", { name: "New task" });
    await host.caughtUp();
    const field = screen.getByRole("textbox", { name: "Message" });
    await waitFor(() => expect(document.activeElement).toBe(field));
    (document.activeElement as HTMLElement).blur();
    // That of another panel may be in use there.
    expect(host.calls("task/create")).toHaveLength(1);
  };
  await opensNew();
  await opensNew();
  await user.click(screen.getByRole("button", { name: "New task" }));
  await user.click(screen.getByRole("option", { name: /^Used/ }));
  await onlyUsed();
  await user.keyboard("{Escape}");
  await opensNew();
});
