// Lends VS Code five language models: one that says what it was asked, one that always fails, one that writes until it is
// stopped, one that calls every tool that it is given, and one for VS Code's own agent, which calls the tool that the person
// names. Its command changes settings of the user: the workbench of a remote machine does not watch the file that they are in.
const { setInterval, clearInterval } = require("node:timers");
const vscode = require("vscode");

function model(id) {
  const name = `Test ${id}`;
  // VS Code's agent has long instructions.
  const limits = { maxInputTokens: id === "agent" ? 200_000 : 10_000, maxOutputTokens: 1_000 };
  const capabilities = { toolCalling: id === "caller" || id === "agent" };
  return { id, name, family: "test", version: "1", ...limits, capabilities };
}

/** The texts of messages, those that tools returned too. */
function heard(messages) {
  const textsOf = (part) => {
    if (part instanceof vscode.LanguageModelTextPart) return [part.value];
    if (part instanceof vscode.LanguageModelToolResultPart) return part.content.flatMap(textsOf);
    return [];
  };
  return messages.flatMap(({ content }) => content).flatMap(textsOf);
}

/** How often the slow model was stopped. */
let stopped = 0;

/** Writes a line after the other; the first says how often it was stopped before. */
async function writeUntilStopped(write, token) {
  let lines = 0;
  write(`I was stopped ${stopped} times. `);
  await new Promise((resolve) => {
    const timer = setInterval(() => write(`Line ${++lines}. `), 100);
    token.onCancellationRequested(() => {
      clearInterval(timer);
      stopped++;
      resolve();
    });
  });
}

/** What VS Code's agent says to do: to call the tool that the person named, and then to say what it returned. */
function nextOfAgent(messages, tools) {
  const said = heard(messages);
  const asked = said.findLast((text) => text.includes("<userRequest>")) ?? "";
  const [, wanted] = /Call (\w+)/.exec(asked.slice(asked.lastIndexOf("<userRequest>"))) ?? [];
  const last = messages.at(-1)?.content ?? [];
  const results = last.filter((part) => part instanceof vscode.LanguageModelToolResultPart);
  if (results.length > 0) {
    return new vscode.LanguageModelTextPart(
      `It returned: ${heard([{ content: results }]).join(" ")}`,
    );
  }
  const tool = tools.find(({ name }) => name.endsWith(`_${wanted}`));
  if (tool === undefined) return new vscode.LanguageModelTextPart(`There is no tool ${wanted}.`);
  return new vscode.LanguageModelToolCallPart("call-1", tool.name, {});
}

/** The arguments that the caller gives the tools of the example server. */
const inputs = { get_weather: { city: "Paris" }, get_time: { zone: "Europe/Paris" } };

async function changeSettings() {
  const placeHolder = "JSON: a value by the name of a setting";
  const text = await vscode.window.showInputBox({ placeHolder });
  for (const [name, value] of Object.entries(JSON.parse(text ?? "{}"))) {
    const target = vscode.ConfigurationTarget.Global;
    await vscode.workspace.getConfiguration().update(name, value ?? undefined, target);
  }
}

exports.activate = function activate() {
  vscode.commands.registerCommand("assent-test.set", changeSettings);
  vscode.lm.registerLanguageModelChatProvider("assent-test", {
    provideLanguageModelChatInformation: () =>
      ["parrot", "broken", "slow", "caller", "agent"].map((id) => model(id)),
    async provideLanguageModelChatResponse(chosen, messages, options, progress, token) {
      const write = (text) => progress.report(new vscode.LanguageModelTextPart(text));
      if (chosen.id === "broken") throw new Error("the test model is broken");
      if (chosen.id === "agent") {
        progress.report(nextOfAgent(messages, options.tools ?? []));
        return;
      }
      if (chosen.id === "slow") return await writeUntilStopped(write, token);
      const last = messages.at(-1)?.content ?? [];
      const hasResults = last.some((part) => part instanceof vscode.LanguageModelToolResultPart);
      const tools = options.tools ?? [];
      if (chosen.id === "caller" && tools.length > 0 && !hasResults) {
        write("Let me look.");
        for (const [i, { name }] of tools.entries()) {
          const input = inputs[name] ?? {};
          progress.report(new vscode.LanguageModelToolCallPart(`call-${i + 1}`, name, input));
        }
        return;
      }
      const limit = options.modelOptions?.["max_tokens"];
      for (const piece of ["You said: ", ...heard(messages), ` (at most ${limit} tokens)`]) {
        write(piece);
      }
    },
    provideTokenCount: async () => 1,
  });
};
