import { act, render, screen } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import type { Actions } from "../../store/session.ts";
import { initialState } from "../../store/session.ts";
import { Banners } from "./Banners.tsx";

test("the seconds to the next try restart with each announcement", () => {
  vi.useFakeTimers();
  const lost = () => (
    <Banners
      state={{ ...initialState, link: { up: false, retryInMs: 10_000 } }}
      actions={{} as Actions}
    />
  );
  const { rerender } = render(lost());
  screen.getByText("Retrying in 10 s.");
  act(() => vi.advanceTimersByTime(4000));
  screen.getByText("Retrying in 6 s.");
  act(() => vi.advanceTimersByTime(6000));
  screen.getByText("Trying again…");
  rerender(lost());
  screen.getByText("Retrying in 10 s.");
  expect(screen.queryByText("Assent is starting…")).toBeNull();
});
