// The packaged extension in the real VS Code workbench: permissions of an agent in a terminal, completions by VS Code's
// models, MCP tasks, forms, and apps, with killed daemons and reloaded windows in the middle.
import { tellAgent } from "./agentStory.ts";
import { appServers, tellApps } from "./appsStory.ts";
import { tellElicitation } from "./elicitationStory.ts";
import { withExtension } from "./extensionWindow.ts";
import { tellMcpTasks } from "./mcpTaskStory.ts";
import { tellSampling } from "./samplingStory.ts";

await withExtension({ name: "workbench-asks", servers: appServers }, async (window) => {
  await tellAgent(window);
  await tellSampling(window);
  await tellMcpTasks(window);
  await tellElicitation(window);
  await tellApps(window);
});
