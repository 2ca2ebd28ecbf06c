// Raw clients of both revisions that start tasks.
import {
  LegacyClient as AnyLegacyClient,
  ModernClient as AnyModernClient,
} from "../../kit/testing/clients.ts";
import type { Message } from "../../kit/testing/inbox.ts";
import type { Wire } from "../../kit/testing/wires.ts";

export const relatedTask = "io.modelcontextprotocol/related-task";

export class LegacyClient extends AnyLegacyClient {
  static async connect(wire: Wire, capabilities: Message = { elicitation: {} }) {
    const client = new LegacyClient(wire);
    await client.initialize("2025-11-25", capabilities);
    return client;
  }

  /** Starts a tool as a task; its id. */
  async startTask(name: string, args: Message = {}): Promise<string> {
    const { task } = await this.request("tools/call", { name, arguments: args, task: {} });
    return task.taskId;
  }

  async status(taskId: string, status: string): Promise<Message> {
    const fits = (task: Message) => task["taskId"] === taskId && task["status"] === status;
    return await this.next("notifications/tasks/status", fits);
  }
}

export class ModernClient extends AnyModernClient {
  override capabilities: Message = {
    elicitation: { form: {}, url: {} },
    extensions: { "io.modelcontextprotocol/tasks": {} },
  };

  /** Starts a tool that becomes a task; its id. */
  async startTask(name: string, args: Message = {}): Promise<string> {
    const task = await this.request("tools/call", { name, arguments: args });
    return task["taskId"];
  }

  /** Listens to the task until it has the status. */
  async status(taskId: string, status: string): Promise<Message> {
    const id = this.begin("subscriptions/listen", { notifications: { taskIds: [taskId] } });
    const fits = (task: Message) =>
      task["_meta"]["io.modelcontextprotocol/subscriptionId"] === id && task["status"] === status;
    const { params } = await this.next("notifications/tasks", fits);
    this.wire.cancel(id);
    return params;
  }
}
