import type { ToolRule } from "@assent/protocol";
import { render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import { notRead } from "../../store/resource.ts";
import { axeFindings } from "../../testing/axe.ts";
import { at, task } from "../../testing/samples.ts";
import { ToolRules } from "./ToolRules.tsx";

const rule = (part: Partial<ToolRule>): ToolRule => ({
  id: "r1",
  serverName: "database",
  toolName: "cleanup",
  remember: "always",
  by: "VS Code",
  createdAt: at,
  ...part,
});

test("what is remembered of tools is listed, and taken back", async () => {
  const onRemove = vi.fn(async () => {});
  const entries = [
    rule({}),
    rule({ id: "r2", toolName: "drop", remember: "never" }),
    rule({ id: "r3", toolName: "count", remember: "task", taskId: "t1" }),
  ];
  const known = { ...notRead, entries };
  const { container } = render(<ToolRules known={known} tasks={[task()]} onRemove={onRemove} />);
  screen.getByText(/^Always approved/);
  screen.getByText(/^Never: /);
  screen.getByText("Approved in “First”, until that is closed.");
  await userEvent
    .setup()
    .click(screen.getByRole("button", { name: "Revoke the answer about drop" }));
  expect(onRemove).toHaveBeenCalledExactlyOnceWith("r2");
  expect(await axeFindings(container)).toEqual([]);
});
