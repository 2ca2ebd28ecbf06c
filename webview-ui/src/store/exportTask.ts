import type { Client } from "../link/client.ts";
import { exportMarkdown } from "../timeline/exportMarkdown.ts";
import { maxPage } from "./openTask.ts";

/** Reads a whole task and shows it as a Markdown document, or downloads it in a browser. */
export async function exportTask(request: Client["request"], taskId: string): Promise<void> {
  const newest = await request("task/open", { taskId, after: 0 });
  const pages = [newest.messages ?? []];
  for (let earlier = newest.earlier ?? false; earlier; ) {
    const before = pages[0]?.[0]?.id;
    if (before === undefined) break;
    const page = await request("task/open", { taskId, before, limit: maxPage });
    const { messages = [] } = page;
    if (messages.length === 0) break;
    pages.unshift(messages);
    earlier = page.earlier ?? false;
  }
  const { title } = newest.task;
  const text = exportMarkdown(newest.task, pages.flat());
  const { opened } = await request("host/openText", { title, text });
  if (!opened) saveFile(`${fileName(title)}.md`, text);
}

/** Downloads a text as a file. */
function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/markdown" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

/** Derives a file name from a title that is valid on every system. */
export function fileName(title: string): string {
  const name = title
    .replaceAll(/[^\p{L}\p{N}]+/gu, "-")
    .replaceAll(/^-+|-+$/g, "")
    .slice(0, 60);
  return name === "" ? "task" : name;
}
