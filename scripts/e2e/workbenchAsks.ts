// The packaged extension in the real VS Code workbench: completions by VS Code's models, MCP tasks, and forms, with
// a killed daemon and reloaded windows in the middle.
import { tellElicitation } from "./elicitationStory.ts";
import { withExtension } from "./extensionWindow.ts";
import { tellMcpTasks } from "./mcpTaskStory.ts";
import { tellSampling } from "./samplingStory.ts";

await withExtension({ name: "workbench-asks" }, async (window) => {
  await tellSampling(window);
  await tellMcpTasks({
    ...window,
    whileServersStop: (work) => window.whileStopped("testservers/tasks.mjs", work),
  });
  await tellElicitation(window);
});
