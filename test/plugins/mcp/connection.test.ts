import { setTimeout as sleep } from "node:timers/promises";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { expect } from "chai";
import { Connection } from "../../../plugins/mcp/connection.ts";
import { McpOptions } from "../../../plugins/mcp/options.ts";
import { type Clock, systemClock } from "../../../src/core/ports/clock.ts";
import { silentLog } from "../../../src/core/ports/log.ts";
import type { VenturiError } from "../../../src/plugin.ts";
import { testPluginContext, VirtualClock } from "../../../src/testing.ts";
import { serveFetch } from "./http-server.ts";

type Server = Awaited<ReturnType<typeof serveFetch>>;
const failureOf = (promise: Promise<unknown>): Promise<VenturiError> =>
  promise.then(
    () => expect.fail("it was connected"),
    (thrown) => thrown,
  );

describe("the connection to an MCP server", () => {
  const closing: { close(): Promise<unknown> }[] = [];
  const logged: [string, Record<string, unknown>][] = [];
  const bodies: string[] = [];
  beforeEach(() => {
    logged.length = 0;
    bodies.length = 0;
  });
  afterEach(async () => {
    for (const each of closing.splice(0)) await each.close();
  });

  const serve = async (port?: number): Promise<Server> => {
    const handler = createMcpHandler(() => {
      const server = new McpServer({ name: "modern", version: "1" });
      server.registerTool("echo", { description: "Echoes" }, () => ({ content: [{ type: "text", text: "hi" }] }));
      return server;
    });
    const server = await serveFetch(async (request) => {
      bodies.push(await request.clone().text());
      return await handler.fetch(request);
    }, port);
    closing.push(server);
    return server;
  };
  const connect = (url: string, more: object = {}, clock: Clock = systemClock) => {
    const options = McpOptions.parse({ url, backoff: { first: 10, most: 20 }, ...more });
    const note = (message: string, fields: object = {}) => void logged.push([message, { ...fields }]);
    const log = { ...silentLog, info: note, warn: note };
    const redact = (text: string) => text.replaceAll("127.0.0.1", "[HOST]");
    const connection = new Connection(options, testPluginContext({ name: "remote", log, clock }), { redact });
    const tools: string[][] = [];
    connection.onTools = (listed) => void tools.push(listed.map(({ name }) => name));
    closing.unshift(connection);
    return { connection, tools };
  };
  const restarts = () =>
    logged.filter(([message]) => message.startsWith("MCP server exited")).map(([, fields]) => fields);
  const never = () => new AbortController().signal;
  /** An address at which nobody listens. */
  const nowhere = async () => {
    const server = await serveFetch(() => expect.fail("not reached"));
    await server.close();
    return server;
  };

  it("lists its tools at the start, says who asks, and is there for calls", async () => {
    const { url } = await serve();
    const { connection, tools } = connect(url);
    await connection.start();
    expect(tools).to.deep.equal([["echo"]]);
    expect(bodies.join()).to.include('"name":"venturi"');
    const client = await connection.client(never());
    expect(await connection.use({ signal: never() }, async (given) => given)).to.equal(client);
    expect(connection.spanAttributes).to.include({
      "mcp.method.name": "tools/call",
      "network.transport": "tcp",
      "server.address": "127.0.0.1",
      "server.port": Number(new URL(url).port),
    });
    expect(connection.spanAttributes["mcp.protocol.version"]).to.match(/^\d{4}-/);
    const gone = await failureOf(connection.client(AbortSignal.abort(new Error("enough"))));
    expect(gone.message).to.equal("enough");
    await connection.close();
    expect(await failureOf(connection.client(never()))).to.include({ op: "tool.call", code: "unavailable" });
    await connection.close();
  });

  it("is closed although the server does not answer the end of its session", async () => {
    const asked = Promise.withResolvers<void>();
    const answers: Record<string, object> = {
      initialize: {
        protocolVersion: "2025-11-25",
        capabilities: { tools: {} },
        serverInfo: { name: "older", version: "1" },
      },
      "tools/list": { tools: [] },
    };
    const server = await serveFetch(async (request) => {
      if (request.method === "DELETE") {
        asked.resolve();
        return await new Promise<Response>(() => {});
      }
      const { id, method = "" } = JSON.parse((await request.text()) || "{}") as { id?: number; method?: string };
      const result = answers[method];
      if (result === undefined) return new Response(null, { status: id === undefined ? 202 : 405 });
      return Response.json({ jsonrpc: "2.0", id, result }, { headers: { "mcp-session-id": "one" } });
    });
    closing.push(server);
    const clock = new VirtualClock();
    const { connection } = connect(server.url, { protocol: "2025-11-25" }, clock);
    await connection.start();
    const closed = connection.close();
    await asked.promise;
    await clock.advance(2_000);
    await closed;
  });

  it("that cannot be made is an error at the start, without what is to be kept secret", async () => {
    const { url } = await nowhere();
    const error = await failureOf(connect(url).connection.start());
    expect(error).to.include({ op: "tool.create", code: "unavailable" });
    expect(error.message).to.include('"remote"').and.not.include("127.0.0.1");
  });

  it("with `optional` is tried again, and calls wait for it: all but those that were cancelled", async () => {
    const { port, url } = await nowhere();
    const { connection, tools } = connect(url, { optional: true });
    await connection.start();
    const controller = new AbortController();
    const [cancelled, first, second] = [controller.signal, never(), never()].map((signal) => connection.client(signal));
    controller.abort(new Error("enough"));
    expect((await failureOf(cancelled as Promise<unknown>)).message).to.equal("enough");
    // Said a little later than it is done: its last words come first.
    while (restarts().length < 3) await sleep(2);
    await serve(port);
    const clients = await Promise.all([first, second]);
    expect(clients[0]).to.equal(clients[1]);
    expect(tools).to.deep.equal([["echo"]]);
    const [early, ...later] = restarts();
    expect(early).to.deep.include({ server: "remote", restartInMs: 10 });
    expect(String(early?.reason)).not.to.include("127.0.0.1");
    for (const { restartInMs } of later) expect(restartInMs).to.equal(20);
    expect(logged).to.deep.include(["the MCP server is back", { server: "remote" }]);
  });

  it("calls wait no longer for it than a connection may take", async () => {
    const { url } = await nowhere();
    const { connection } = connect(url, {
      optional: true,
      connectTimeout: 60,
      backoff: { first: 60_000, most: 60_000 },
    });
    await connection.start();
    const late = await failureOf(connection.client(never()));
    expect(late).to.include({ op: "tool.call", code: "unavailable" });
    expect(late.message).to.include("being restarted");
  });

  it("is asked for after a call has failed, and made again when it is gone", async () => {
    const server = await serve();
    const { connection } = connect(server.url);
    await connection.start();
    const client = await connection.client(never());
    const fails = () => connection.use({ signal: never() }, () => Promise.reject(new Error("broke")));
    expect((await failureOf(fails())).message).to.equal("broke");
    expect(await connection.client(never()), "it is still there").to.equal(client);
    await server.close();
    closing.splice(closing.indexOf(server), 1);
    await failureOf(fails());
    await serve(server.port);
    expect(await connection.client(never())).not.to.equal(client);
  });
});
