import type { Field, FieldProblem } from "@assent/protocol";
import { act, fireEvent, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import { descriptionOf, isWrong, valueIn } from "../../testing/dom.ts";
import { FieldsForm } from "./FieldsForm.tsx";
import { CheckContext, type CheckForm } from "./useCheck.ts";

const fields: readonly Field[] = [
  { type: "string", name: "mail", title: "Mail", format: "email" },
  { type: "string", name: "name", title: "Name" },
];

/** A form with a sidecar that answers when the test says so. */
function show() {
  const answers: ((problems: readonly FieldProblem[]) => Promise<void>)[] = [];
  const check = vi.fn<CheckForm>(
    () =>
      new Promise((resolve) => {
        answers.push((problems) => act(async () => resolve(problems)));
      }),
  );
  return { answers, check, ...drawWith(check) };
}

function drawWith(check: CheckForm) {
  const onSubmit = vi.fn();
  const onNotSubmitted = vi.fn();
  const drawn = render(
    <CheckContext value={check}>
      <FieldsForm
        fields={fields}
        draft={undefined}
        onDraft={() => {}}
        disabled={false}
        refused={undefined}
        onSubmit={onSubmit}
        onNotSubmitted={onNotSubmitted}
      >
        <button type="submit">Submit</button>
      </FieldsForm>
    </CheckContext>,
  );
  return { ...drawn, onSubmit, onNotSubmitted };
}

const mail = () => screen.getByRole("textbox", { name: "Mail" });
const type = (value: string) => fireEvent.change(mail(), { target: { value } });
const submit = () => fireEvent.click(screen.getByRole("button", { name: "Submit" }));
const wrong: readonly FieldProblem[] = [{ name: "mail", message: "No.", keyword: "format" }];

test("a field alone is sent to the check as the person leaves it, and not before", () => {
  const { check } = show();
  type("ada");
  expect(check).not.toHaveBeenCalled();
  fireEvent.blur(mail());
  const params = { fields: [fields[0]], content: { mail: "ada" } };
  expect(check).toHaveBeenCalledExactlyOnceWith(params, expect.anything());
});

test("the answer of a check that comes after a change is dropped", async () => {
  const { answers } = show();
  type("ada");
  fireEvent.blur(mail());
  type("ada@example.com");
  await answers[0]?.(wrong);
  expect(isWrong(mail())).toBe(false);
});

test("a wrong field is checked again after a pause in the typing", async () => {
  const { answers, check } = show();
  type("ada");
  fireEvent.blur(mail());
  await answers[0]?.(wrong);
  expect(descriptionOf(mail())).toBe("Not an email address, such as name@example.com");
  for (const value of ["ada@", "ada@e", "ada@ex"]) type(value);
  await waitFor(() => expect(check).toHaveBeenCalledTimes(2));
  expect(check.mock.lastCall?.[0].content).toEqual({ mail: "ada@ex" });
  expect(isWrong(mail())).toBe(true);
  await answers[1]?.([]);
  expect(isWrong(mail())).toBe(false);
});

test("each wrong field is checked again, also while the person types in the next one", async () => {
  const { answers, check } = show();
  const name = screen.getByRole("textbox", { name: "Name" });
  submit();
  await answers[0]?.([...wrong, { name: "name", message: "No.", keyword: "minLength" }]);
  type("ada@example.com");
  fireEvent.change(name, { target: { value: "Ada" } });
  await waitFor(() => expect(check).toHaveBeenCalledTimes(3));
  await answers[1]?.([]);
  await answers[2]?.([]);
  expect([isWrong(mail()), isWrong(name)]).toEqual([false, false]);
});

test("the check of a field that began before a submission says nothing after it", async () => {
  const { answers } = show();
  type("ada");
  fireEvent.blur(mail());
  submit();
  await answers[1]?.(wrong);
  expect(isWrong(mail())).toBe(true);
  await answers[0]?.([]);
  expect(isWrong(mail())).toBe(true);
});

test("a form is submitted once, however often the button is pressed during the check", async () => {
  const { answers, check, onSubmit } = show();
  type("a@b");
  submit();
  submit();
  await answers[0]?.([]);
  expect(check).toHaveBeenCalledTimes(1);
  expect(onSubmit).toHaveBeenCalledExactlyOnceWith({ mail: "a@b" });
});

test("nothing is submitted that the person has changed during the check", async () => {
  const { answers, onSubmit, onNotSubmitted } = show();
  type("a@b");
  submit();
  type("a@bc");
  await answers[0]?.([]);
  expect(onSubmit).not.toHaveBeenCalled();
  expect(onNotSubmitted).toHaveBeenCalledTimes(1);
  expect(valueIn(mail())).toBe("a@bc");
  submit();
  await answers[1]?.([]);
  expect(onSubmit).toHaveBeenCalledExactlyOnceWith({ mail: "a@bc" });
});

test("a second submission during the check counts, for what the form had then", async () => {
  const { answers, check, onSubmit, onNotSubmitted } = show();
  type("a@b");
  submit();
  type("a@bc");
  submit();
  await answers[0]?.([]);
  expect(check.mock.lastCall?.[0].content).toEqual({ mail: "a@bc" });
  expect(onSubmit).not.toHaveBeenCalled();
  await answers[1]?.([]);
  expect(onSubmit).toHaveBeenCalledExactlyOnceWith({ mail: "a@bc" });
  expect(onNotSubmitted).not.toHaveBeenCalled();
});

test("a second submission during the check does not count for what was typed after it", async () => {
  const { answers, check, onSubmit, onNotSubmitted } = show();
  type("a@b");
  submit();
  type("a@bc");
  submit();
  type("a@bcd");
  await answers[0]?.([]);
  expect(onNotSubmitted).toHaveBeenCalledTimes(1);
  expect(check).toHaveBeenCalledTimes(1);
  expect(onSubmit).not.toHaveBeenCalled();
});

test("a form that is gone submits nothing", async () => {
  const { answers, check, onSubmit, onNotSubmitted, unmount } = show();
  submit();
  unmount();
  expect(check.mock.lastCall?.[1].aborted).toBe(true);
  await answers[0]?.([]);
  expect(onSubmit).not.toHaveBeenCalled();
  expect(onNotSubmitted).toHaveBeenCalledTimes(1);
});

test("a sidecar that cannot check does not prevent typing and submitting", async () => {
  const { onSubmit } = drawWith(() => Promise.reject(new Error("ask/check is unknown")));
  const user = userEvent.setup();
  await user.type(mail(), "ada{Tab}");
  expect(isWrong(mail())).toBe(false);
  await user.type(screen.getByRole("textbox", { name: "Name" }), "Ada{Enter}");
  await waitFor(() =>
    expect(onSubmit).toHaveBeenCalledExactlyOnceWith({ mail: "ada", name: "Ada" }),
  );
});

test("a sidecar that does not answer is waited for three seconds", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const { check, onSubmit } = show();
  type("a@b");
  submit();
  await act(() => vi.advanceTimersByTimeAsync(2999));
  expect(onSubmit).not.toHaveBeenCalled();
  await act(() => vi.advanceTimersByTimeAsync(1));
  expect(onSubmit).toHaveBeenCalledExactlyOnceWith({ mail: "a@b" });
  expect(check.mock.lastCall?.[1].aborted).toBe(true);
});
