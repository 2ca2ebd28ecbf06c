// Lends VS Code two language models: one that says what it was asked, and one that always fails.
const vscode = require("vscode");

function model(id) {
  const name = `Test ${id}`;
  const limits = { maxInputTokens: 10_000, maxOutputTokens: 1_000 };
  return { id, name, family: "test", version: "1", ...limits, capabilities: {} };
}

exports.activate = function activate() {
  vscode.lm.registerLanguageModelChatProvider("assent-test", {
    provideLanguageModelChatInformation: () => [model("parrot"), model("broken")],
    async provideLanguageModelChatResponse(chosen, messages, options, progress) {
      if (chosen.id === "broken") throw new Error("the test model is broken");
      const heard = messages
        .flatMap(({ content }) => content)
        .map((part) => (part instanceof vscode.LanguageModelTextPart ? part.value : ""));
      const limit = options.modelOptions?.["max_tokens"];
      for (const piece of ["You said: ", ...heard, ` (at most ${limit} tokens)`]) {
        progress.report(new vscode.LanguageModelTextPart(piece));
      }
    },
    provideTokenCount: async () => 1,
  });
};
