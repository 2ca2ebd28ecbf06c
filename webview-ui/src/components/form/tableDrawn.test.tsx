import type { Field } from "@assent/protocol";
import { fireEvent, render, screen } from "@testing-library/react";
import { describe, expect, test, vi } from "vitest";
import { readFormTable } from "../../testing/forms.ts";
import { elicitation } from "../../testing/samples.ts";
import type { Draft, FieldInput } from "../../view/viewState.ts";
import { own } from "../../view/viewState.ts";
import { McpElicitationForm } from "../elicitation/McpElicitationForm.tsx";

// The half second before an ask can be answered has a test of its own.
vi.mock("../ask/useClickGuard.ts", () => ({ useClickGuard: () => true }));

// The table that the sidecar and validate.ts come to their verdicts by, filled into the form itself.
describe.each(readFormTable())("$name", ({ fields, answers }) => {
  test.each(answers)("$inputs", ({ inputs, answer, problems }) => {
    const onAccept = vi.fn();
    const draw = (draft: Draft) =>
      render(
        <McpElicitationForm
          askId="a1"
          serverName="s"
          toolNames={[]}
          request={elicitation(fields).elicitationRequest}
          busy={false}
          refusal={undefined}
          problems={undefined}
          draft={draft}
          onDraft={() => {}}
          onAccept={onAccept}
          onDecline={() => {}}
          onDeclineAll={() => {}}
          onCancel={() => {}}
        />,
      );
    // What no control can hold, such as the 30th of February, comes as a draft of an earlier version may.
    const drawn = draw({});
    const unfit = fields.filter((field) => {
      const input = own(inputs, field.name);
      return input !== undefined && !fill(frameOf(fields, field), field, input);
    });
    if (unfit.length > 0) {
      drawn.unmount();
      draw(Object.fromEntries(Object.entries(inputs)));
    }

    fireEvent.click(screen.getByRole("button", { name: "Submit" }));
    const wrong = fields.filter(
      (field) => frameOf(fields, field).querySelector(".field-problem") !== null,
    );
    expect(wrong.map(({ name }) => name)).toEqual(problems);
    if (problems.length === 0) expect(onAccept).toHaveBeenCalledExactlyOnceWith(answer);
    else expect(onAccept).not.toHaveBeenCalled();
  });
});

function frameOf(fields: readonly Field[], field: Field): Element {
  const frame = document.querySelectorAll(".fields > .field")[fields.indexOf(field)];
  if (frame === undefined) throw new Error(`no field ${field.name} is drawn`);
  return frame;
}

/** Gives a control its input, as a person does; says whether it could. */
function fill(frame: Element, field: Field, input: FieldInput): boolean {
  switch (field.type) {
    case "boolean": {
      const tick = only(frame, "input");
      fireEvent.click(tick);
      if (input === false) fireEvent.click(tick);
      return true;
    }
    case "choice":
    case "choices": {
      const wanted = typeof input === "object" ? input : [input];
      const options = field.options ?? [];
      const positions = wanted.map((value) => options.findIndex((o) => o.value === value));
      if (positions.includes(-1)) return false;
      const select = frame.querySelector("select");
      const ticks = frame.querySelectorAll("input");
      for (const position of positions) {
        if (select !== null) fireEvent.change(select, { target: { value: String(position) } });
        else fireEvent.click(ticks[position] ?? frame);
      }
      // An emptied list is one that was not empty.
      if (positions.length === 0) {
        fireEvent.click(ticks[0] ?? frame);
        fireEvent.click(ticks[0] ?? frame);
      }
      return true;
    }
    default: {
      const control = frame.querySelector("textarea") ?? only(frame, "input");
      if (control.type.startsWith("date")) return false;
      fireEvent.change(control, { target: { value: input } });
      return control.value === input;
    }
  }
}

function only(frame: Element, selector: "input"): HTMLInputElement {
  const control = frame.querySelector(selector);
  if (control === null) throw new Error(`nothing can be typed into ${frame.textContent}`);
  return control;
}
