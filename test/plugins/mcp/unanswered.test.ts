import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { expect } from "chai";
import { TaskWire } from "../../../plugins/mcp/task-wire.ts";
import { failUnanswered } from "../../../plugins/mcp/unanswered.ts";

type End = { onRequestStreamEnd?: () => void };

/** A transport whose server answers each request on a stream of its own, which then ends. */
function answering(answer: (id: unknown) => JSONRPCMessage | undefined): Transport {
  const transport = {
    start: async () => {},
    close: async () => {},
    send: async (message: JSONRPCMessage, options?: End) => {
      const answered = answer("id" in message ? message.id : undefined);
      if (answered !== undefined) transport.onmessage?.(answered);
      options?.onRequestStreamEnd?.();
    },
    onmessage: undefined as Transport["onmessage"],
  };
  return transport;
}

describe("requests to an MCP server whose stream has ended", () => {
  const request = { jsonrpc: "2.0" as const, id: 5, method: "tools/call" };
  const result = (id: unknown) => ({ jsonrpc: "2.0", id, result: {} }) as JSONRPCMessage;
  const seenBy = (transport: Transport) => {
    const seen: JSONRPCMessage[] = [];
    transport.onmessage = (message) => void seen.push(message);
    return seen;
  };

  it("fail once when no answer came", async () => {
    const transport = answering(() => undefined);
    failUnanswered(transport);
    const seen = seenBy(transport);
    await transport.send(request);
    expect(seen).to.have.length(1);
    expect(seen[0]).to.have.nested.property("error.code", -32_000);
  });

  it("do not fail when they were answered, also with the id as a text", async () => {
    const transport = answering((id) => result(String(id)));
    failUnanswered(transport);
    const seen = seenBy(transport);
    await transport.send(request);
    expect(seen).to.deep.equal([result("5")]);
  });

  it("do not fail when the answer was about a task, which the library does not see", async () => {
    const transport = answering(result);
    failUnanswered(transport);
    const wire = new TaskWire(transport, {});
    const seen = seenBy(transport);
    expect(await wire.ask("tasks/get", { taskId: "t" })).to.deep.equal({});
    expect(seen).to.deep.equal([]);
  });
});
