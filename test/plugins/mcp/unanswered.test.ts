import { expect } from "chai";
import { Connection } from "../../../plugins/mcp/connection.ts";
import { McpOptions } from "../../../plugins/mcp/options.ts";
import { testPluginContext } from "../../../src/testing.ts";
import { serveFetch } from "./http-server.ts";

describe("a call whose stream ends without an answer", () => {
  const closing: { close(): Promise<unknown> }[] = [];
  afterEach(async () => {
    for (const each of closing.splice(0)) await each.close();
  });

  const answers: Record<string, object> = {
    initialize: {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {} },
      serverInfo: { name: "older", version: "1" },
    },
    "tools/list": { tools: [{ name: "t", inputSchema: { type: "object" } }] },
    ping: {},
  };
  const eventStream = (body: string | ReadableStream) =>
    new Response(body, { headers: { "content-type": "text/event-stream" } });

  /** A server without sessions, which is still there after the call is lost. */
  async function connect(call: (id: number) => Response, resumed?: (last: string) => Response): Promise<Connection> {
    const server = await serveFetch(async (request) => {
      const last = request.headers.get("last-event-id");
      if (request.method === "GET") return (last && resumed?.(last)) || new Response(null, { status: 405 });
      const { id, method = "" } = JSON.parse((await request.text()) || "{}");
      if (method === "tools/call") return call(id);
      const result = answers[method];
      return result === undefined ? new Response(null, { status: 202 }) : Response.json({ jsonrpc: "2.0", id, result });
    });
    const options = McpOptions.parse({ url: server.url, protocol: "2025-11-25", backoff: { first: 10, most: 20 } });
    const connection = new Connection(options, testPluginContext({ name: "remote" }), { redact: (text) => text });
    closing.push(connection, server);
    await connection.start();
    return connection;
  }
  const outcomeOf = (connection: Connection) =>
    connection
      .use({ signal: new AbortController().signal }, (client) => client.callTool({ name: "t" }, { timeout: 3_600_000 }))
      .catch((thrown: Error) => thrown.message);
  const cut = () =>
    new ReadableStream({
      start: (controller) => controller.enqueue(Buffer.from(": working\n\n")),
      // Its headers and first bytes are sent before it is cut.
      pull: (controller) => void setTimeout(() => controller.error(new Error("killed")), 50),
    });

  for (const [how, body] of [
    ["ended", () => ": working\n\n"],
    ["cut", cut],
  ] as const) {
    it(`fails when it is ${how}, and the connection is used on`, async () => {
      const connection = await connect(() => eventStream(body()));
      const client = await connection.client(new AbortController().signal);
      expect(await outcomeOf(connection)).to.include("ended the stream of the call without a result");
      expect(await connection.client(new AbortController().signal)).to.equal(client);
    });
  }

  it("is taken up again where the server can, and fails where it no longer can", async () => {
    const primed = () => eventStream("id: 1\nretry: 1\ndata: \n\n");
    const refused = await connect(primed, () => new Response(null, { status: 405 }));
    expect(await outcomeOf(refused)).to.include("without a result");
    let asked = 0;
    const result = { content: [{ type: "text", text: "done" }] };
    const taken = await connect(
      (id) => {
        asked = id;
        return primed();
      },
      () => eventStream(`id: 2\ndata: ${JSON.stringify({ jsonrpc: "2.0", id: asked, result })}\n\n`),
    );
    expect(await outcomeOf(taken)).to.deep.include(result);
  });
});
