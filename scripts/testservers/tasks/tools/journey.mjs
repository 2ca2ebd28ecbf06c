// A job that takes its time, reports progress, and asks in the middle, twice.
// @ts-check
import { integer, textResult } from "../../kit/tool.mjs";
import { form } from "./tool.mjs";

/** @typedef {import("../rpc.mjs").Json} Json */

const days = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

const questions = {
  day: form("Which day do you want to travel?", {
    day: { type: "string", title: "Day", enum: days },
  }),
  seat: form("Window or aisle?", {
    seat: {
      type: "string",
      title: "Seat",
      oneOf: [
        { const: "window", title: "Window" },
        { const: "aisle", title: "Aisle" },
      ],
    },
  }),
  tip: {
    method: "sampling/createMessage",
    params: {
      messages: [
        { role: "user", content: { type: "text", text: "One tip for a train journey, please." } },
      ],
      maxTokens: 100,
    },
  },
};

/** @type {import("./tool.mjs").Tool} */
export const planJourney = {
  name: "plan_journey",
  description: "Plans a journey: reports progress, and asks you for the day and for the seat.",
  taskSupport: "required",
  properties: {
    destination: { type: "string", title: "Destination", default: "Lisbon" },
    step_ms: {
      type: "integer",
      title: "Milliseconds a step",
      description: "There are three steps before, between and after the questions.",
      minimum: 0,
      maximum: 60_000,
      default: 500,
    },
    booking_ms: {
      type: "integer",
      title: "Booking time in milliseconds",
      description: "Of each step after the questions. By default, they take as long as the others.",
      minimum: 0,
      maximum: 60_000,
    },
    ask_model: { type: "boolean", title: "Ask the model for a tip too", default: false },
  },
  needs: (args) => (args["ask_model"] === true ? ["form", "sampling"] : ["form"]),
  async run(job, args) {
    const ms = integer(args, "step_ms", 500, 60_000);
    const destination = String(args["destination"] ?? "Lisbon");
    const steps = async (/** @type {string} */ what, each = ms) => {
      for (let i = 1; i <= 3; i++) await job.step(`${what} (${i} of 3)`, each);
    };
    await steps(`Looking for trains to ${destination}`);
    await job.ask({ day: questions.day });
    await steps("Holding a train");
    await job.ask({ seat: questions.seat });
    if (args["ask_model"] === true) await job.ask({ tip: questions.tip });
    // Answers that come twice are counted until the end, so the end is not at once.
    await steps("Booking", integer(args, "booking_ms", ms, 60_000));
    return report(destination, job.task);
  },
};

/**
 * The job's exact answers, the numbers of its questions and answers, and its steps. A job that restarted from the
 * beginning would differ.
 * @param {string} destination
 * @param {import("../store.mjs").Task} task
 */
function report(destination, { questions: asked, progress: steps }) {
  const lines = Object.entries(asked).map(
    ([key, question]) =>
      `${key}: ${JSON.stringify(question.answer)}, asked ${question.asked}, answered ${question.answered}`,
  );
  const told = Object.fromEntries(
    Object.entries(asked).map(([key, { asked, answered, answer }]) => [
      key,
      { asked, answered, answer },
    ]),
  );
  return {
    ...textResult([`The journey to ${destination} is planned.`, ...lines].join("\n")),
    structuredContent: { destination, steps, told },
  };
}
