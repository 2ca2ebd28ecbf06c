import type {
  AttachedFile,
  CheckFormParams,
  Event,
  Message,
  OpenTaskParams,
  Server,
  Task,
} from "@assent/protocol";
import type { ForgetFilesParams, KeptFileParams } from "@assent/protocol/host";
import { expect } from "vitest";
import {
  BrowserMessageReader,
  BrowserMessageWriter,
  createMessageConnection,
  type MessageConnection,
  ResponseError,
} from "vscode-jsonrpc/browser";
import { type Channel, createClient, type Notifications, type Requests } from "../link/client.ts";
import { createSession, type Session } from "../store/session.ts";
import type { ViewStateStore } from "../view/viewState.ts";
import { checkBy } from "./check.ts";
import { at } from "./samples.ts";

/** A request as the host received it. */
export interface Asked {
  readonly method: string;
  readonly params: unknown;
}

type Handlers = {
  readonly [M in keyof Requests]?: (
    params: Requests[M]["params"],
  ) => Requests[M]["result"] | Promise<Requests[M]["result"]>;
};

/** Connects two ends of real JSON-RPC over a message channel, which clones messages as VS Code does. */
export function pipe(): readonly [Channel, Channel] {
  const { port1, port2 } = new MessageChannel();
  const channel = (port: MessagePort): Channel => ({
    reader: new BrowserMessageReader(port),
    writer: new BrowserMessageWriter(port),
  });
  return [channel(port1), channel(port2)];
}

/** A fake host for the webview's bridge, with a sidecar that has one task. */
export class FakeHost {
  task: Task;
  messages: readonly Message[];
  servers: readonly Server[] = [];
  /** The stored attachments of unsent messages. */
  keptFiles = new Map<string, AttachedFile>();
  readonly asked: Asked[] = [];
  private readonly handlers: Handlers;
  private connection: MessageConnection | undefined;

  constructor(task: Task, messages: readonly Message[] = [], handlers: Handlers = {}) {
    this.task = task;
    this.messages = messages;
    this.handlers = handlers;
  }

  /** Connects a session. */
  connect(session: Session): void {
    const [here, there] = pipe();
    const connection = createMessageConnection(there.reader, there.writer);
    connection.onRequest((method, params) => {
      this.asked.push({ method, params });
      const handler = this.handlers[method as keyof Requests] ?? this.defaults()[method];
      if (handler === undefined) throw new ResponseError(-32601, `${method} is unknown`);
      return (handler as (params: unknown) => unknown)(params);
    });
    connection.listen();
    this.connection = connection;
    session.up(createClient(here));
  }

  /**
   * Sends a notification to the webview, and waits until it is there. As of a real host, it comes after the answers to
   * what the webview has asked before.
   */
  async tell<M extends keyof Notifications>(method: M, params: Notifications[M]): Promise<void> {
    await this.caughtUp();
    await this.connection?.sendNotification(method, params);
    await this.caughtUp();
  }

  /** Waits until each end has got all that the other one sent before. A test waits so before it expects no request. */
  async caughtUp(): Promise<void> {
    // Messages keep their order, and the webview answers after them: that it knows no such request.
    await expect(this.connection?.sendRequest("testing/caughtUp")).rejects.toThrow(
      "testing/caughtUp",
    );
  }

  /** Sends the next event of the task. */
  async event(event: Event, openAsks = this.task.openAsks): Promise<void> {
    const number = this.task.lastNumber + 1;
    this.task = { ...this.task, openAsks, lastNumber: number };
    await this.tell("task/event", { taskId: this.task.id, number, openAsks, event });
  }

  /** Returns the params of each request of a method so far. */
  calls(method: keyof Requests): readonly unknown[] {
    return this.asked.filter((asked) => asked.method === method).map(({ params }) => params);
  }

  private defaults(): Readonly<Record<string, (params: unknown) => unknown>> {
    return {
      "host/ready": () => ({ status: { state: "running" } }),
      "task/list": () => ({ tasks: [this.task] }),
      "task/open": (params) => ({
        task: this.task,
        messages: this.messages,
        reset: (params as OpenTaskParams).after === 0,
      }),
      "ask/list": () => ({}),
      "mcpTask/list": () => ({}),
      "mcpTask/listOfServers": () => ({}),
      "policy/list": () => ({}),
      "ask/draft": () => ({}),
      "ask/check": async (params) => ({ problems: await checkBy()(params as CheckFormParams) }),
      "server/list": () => ({ servers: this.servers }),
      "server/inspect": (params) => {
        const { serverName } = params as { readonly serverName: string };
        const server = this.servers.find(({ name }) => name === serverName);
        if (server === undefined) throw new ResponseError(-32106, `${serverName} is unknown`);
        return { server, counts: {} };
      },
      "resources/list": () => ({}),
      "resources/templates/list": () => ({}),
      "prompts/list": () => ({}),
      "model/list": () => ({ models: [] }),
      askResponse: () => ({ outcome: { reason: "answered", by: "VS Code", at } }),
      "host/openConfiguration": () => null,
      "host/keepFile": (file) => {
        const id = `kept-${this.keptFiles.size}`;
        this.keptFiles.set(id, file as AttachedFile);
        return { id };
      },
      "host/keptFile": (params) => ({ file: this.keptFiles.get((params as KeptFileParams).id) }),
      "host/forgetFiles": (params) => {
        for (const id of (params as ForgetFilesParams).ids) this.keptFiles.delete(id);
        return null;
      },
      "host/restartSidecar": () => null,
      "host/showLog": () => null,
    };
  }
}

/** Creates a session connected to a host. */
export function startSession(host: FakeHost, view: ViewStateStore): Session {
  const session = createSession(view);
  host.connect(session);
  return session;
}
