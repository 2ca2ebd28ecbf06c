import { act, renderHook } from "@testing-library/react";
import { expect, test, vi } from "vitest";
import { useAnswer } from "./useAnswer.ts";

const yes = { askResponse: "yesButtonClicked" } as const;
const no = { askResponse: "noButtonClicked" } as const;

test("of two answers in one breath, only the first goes out", async () => {
  const send = vi.fn(async () => {});
  const { result } = renderHook(() => useAnswer(send));
  await act(async () => {
    result.current.answer(yes);
    result.current.answer(no);
  });
  expect(send).toHaveBeenCalledExactlyOnceWith(yes);
});

test("a confirmed answer is the last, a refused one is not", async () => {
  const send = vi.fn(async () => {});
  send.mockRejectedValueOnce(new Error("Not now."));
  const { result } = renderHook(() => useAnswer(send));
  await act(async () => result.current.answer(yes));
  expect(result.current).toMatchObject({ busy: false, refusal: new Error("Not now.") });
  await act(async () => result.current.answer(yes));
  expect(result.current).toMatchObject({ busy: true, refusal: undefined });
  await act(async () => result.current.answer(no));
  expect(send).toHaveBeenCalledTimes(2);
});
