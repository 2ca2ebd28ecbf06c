// Assent's plugin for opencode. It shows opencode's own questions in Assent as well: the first answer counts, there or here.
// "assent setup --hook" has written it, and "assent restore" removes it.
import { spawn } from "node:child_process";

const program = "PROGRAM";
const most = 100; // questions at once

// Has opencode ask before commands that it would allow. What it forbids or asks about already stays.
const asking = (permission, patterns) => {
  const all = typeof permission === "string" ? { "*": permission } : (permission ?? {});
  const { bash = all["*"] ?? "allow" } = all;
  const known = typeof all.bash === "object" ? Object.entries(all.bash) : [];
  if (typeof all.bash !== "object" && bash !== "allow") return permission;
  for (const pattern of patterns) {
    const same = known.find(([other]) => other === pattern);
    const denied = known.findIndex(([, action]) => action === "deny"); // the last match counts
    if (same === undefined) known.splice(denied < 0 ? known.length : denied, 0, [pattern, "ask"]);
    else if (same[1] === "allow") same[1] = "ask";
  }
  return { ...all, bash: Object.fromEntries(known) };
};

export const Assent = async ({ client, directory }) => {
  const open = new Map(); // by the request's id
  const start = (more) =>
    spawn(program, ["hook", "opencode"], {
      cwd: directory,
      stdio: ["pipe", "pipe", "ignore"],
      windowsHide: true,
      ...more,
    });

  // The person's rules about what to ask first, which need no daemon.
  const rules = () =>
    new Promise((resolve) => {
      const hook = start({ timeout: 5000 });
      let said = "";
      hook.stdout.setEncoding("utf8");
      hook.stdout.on("data", (text) => {
        said += text;
      });
      hook.stdin.on("error", () => {}); // it has ended
      hook.on("error", () => resolve("{}")); // there is no such program
      hook.on("close", () => resolve(said));
      hook.stdin.end('{"type":"config"}\n');
    });

  // Asks a question in Assent, by a process that ends with it. Without a decision of the person it says nothing.
  const ask = async (type, properties) => {
    const { id, sessionID } = properties;
    if (open.has(id) || open.size >= most) return;
    const one = { sessionID, callID: properties.tool?.callID, sent: false };
    open.set(id, one);
    const about = await describe(properties).catch(() => ({}));
    if (open.get(id) !== one) return; // it is over
    const hook = start();
    one.hook = hook;
    hook.on("error", () => open.delete(id)); // there is no such program
    hook.on("close", () => open.delete(id));
    hook.stdin.on("error", () => {}); // it has ended
    hook.stdin.write(`${JSON.stringify({ type, folder: directory, ...about, properties })}\n`);
    let said = "";
    hook.stdout.setEncoding("utf8");
    hook.stdout.on("data", (text) => {
      said += text;
      if (!said.endsWith("\n") || one.sent || open.get(id) !== one) return;
      one.sent = true;
      answer(type, id, said).then(
        (taken) => over(id, taken ? "taken" : one.reply),
        () => over(id, one.reply), // it could not be read or sent
      );
    });
  };

  // What is asked for: the use of a tool, with the agent and the session of the person.
  const describe = async ({ sessionID, tool }) => {
    let root = sessionID;
    for (let depth = 0; depth < 20; depth++) {
      const { data } = await client.session.get({ path: { id: root } });
      if (!data?.parentID) break;
      root = data.parentID;
    }
    if (!tool) return { root };
    const path = { id: sessionID, messageID: tool.messageID };
    const { data } = await client.session.message({ path });
    const part = data?.parts.find(({ callID }) => callID === tool.callID);
    const input = part?.state.status === "running" ? part.state.input : undefined; // before, it is not whole
    return { root, agent: data?.info.agent, tool: part?.tool, input };
  };

  // Gives opencode the person's answer, and reports whether it took it.
  const answer = async (type, id, said) => {
    const { reply, message, answers } = JSON.parse(said);
    const send = async (url, body) => {
      const headers = { "Content-Type": "application/json" };
      const { response } = await client._client.post({ url, body, headers });
      return response.ok;
    };
    if (type === "permission.asked") {
      if (!["once", "always", "reject"].includes(reply)) return false;
      return await send(`/permission/${id}/reply`, { reply, ...(message && { message }) });
    }
    if (Array.isArray(answers)) return await send(`/question/${id}/reply`, { answers });
    return reply === "reject" && (await send(`/question/${id}/reject`, {}));
  };

  // Ends a question: with the reply that opencode got, if it got one.
  const over = (id, reply) => {
    const one = open.get(id);
    open.delete(id);
    one?.hook?.stdin.end(reply === undefined ? "" : `${reply}\n`);
  };
  const overIf = (is) => {
    for (const [id, one] of open) if (!one.sent && is(one)) over(id);
  };

  const hear = async ({ type, properties }) => {
    switch (type) {
      case "permission.asked":
      case "question.asked":
        await ask(type, properties);
        break;
      case "permission.replied":
      case "question.replied":
      case "question.rejected": {
        const one = open.get(properties.requestID);
        if (one === undefined) break;
        one.reply = properties.reply ?? (type === "question.rejected" ? "reject" : "answered");
        if (!one.sent) over(properties.requestID, one.reply);
        break;
      }
      case "message.part.updated": {
        const { sessionID, callID, state } = properties.part;
        if (callID === undefined || !["completed", "error"].includes(state?.status)) break;
        overIf((one) => one.sessionID === sessionID && one.callID === callID);
        break;
      }
      case "session.idle":
        overIf((one) => one.sessionID === properties.sessionID);
        break;
      case "session.deleted":
        overIf((one) => one.sessionID === properties.info.id);
        break;
    }
  };

  return {
    config: async (config) => {
      try {
        const { bash = [] } = JSON.parse(await rules());
        if (bash.length > 0) config.permission = asking(config.permission, bash);
      } catch {} // another version of the program
    },
    // What cannot be read is left to opencode's own prompt.
    event: ({ event }) => hear(event).catch(() => {}),
    dispose: async () => overIf(() => true),
  };
};
