// MCP's own client for TypeScript as a host: it refuses each result that lacks a member of its revision.
import assert from "node:assert/strict";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

/** Uses each method of a server with the names of MCP's "everything", in the newest revision and in the one before it. */
export async function useEachMethod(target: string): Promise<void> {
  for (const mode of ["auto", "legacy"] as const) {
    const client = new Client(
      { name: "typescript", version: "1" },
      { versionNegotiation: { mode } },
    );
    await client.connect(new StreamableHTTPClientTransport(new URL(target)));
    try {
      const { tools } = await client.listTools();
      const { prompts } = await client.listPrompts();
      const { resources } = await client.listResources();
      const { resourceTemplates } = await client.listResourceTemplates();
      const called = await client.callTool({ name: "echo", arguments: { message: "hello" } });
      const prompt = await client.getPrompt({ name: "simple-prompt" });
      const read = await client.readResource({ uri: resources[0]?.uri ?? "" });
      const { completion } = await client.complete({
        ref: { type: "ref/prompt", name: "completable-prompt" },
        argument: { name: "department", value: "E" },
      });
      for (const some of [tools, prompts, resources, resourceTemplates]) assert.ok(some.length > 0);
      for (const some of [called.content, prompt.messages, read.contents, completion.values]) {
        assert.ok(Array.isArray(some) && some.length > 0);
      }
      const newest = client.getNegotiatedProtocolVersion() === "2026-07-28";
      assert.equal(newest, mode === "auto");
      if (newest) {
        await client.discover();
        const subscription = await client.listen({ toolsListChanged: true });
        await subscription.close();
      } else {
        const { uri = "" } = resources[0] ?? {};
        await client.ping();
        await client.setLoggingLevel("warning");
        await client.subscribeResource({ uri });
        await client.unsubscribeResource({ uri });
      }
    } finally {
      await client.close();
    }
  }
}
