import type { Client, Tool as RemoteTool } from "@modelcontextprotocol/client";
import { expect } from "chai";
import { serverAttributes } from "../../../plugins/mcp/connection.ts";
import { elicited, Questions, sampled } from "../../../plugins/mcp/elicitation.ts";
import { McpOptions } from "../../../plugins/mcp/options.ts";
import { explained, type Offer, toTools } from "../../../plugins/mcp/tools.ts";
import { type Question, type ToolContext, VenturiError } from "../../../src/plugin.ts";
import { silentToolContext } from "../../../src/testing/tool-call.ts";

const failureOf = (promise: Promise<unknown>): Promise<VenturiError> =>
  promise.then(
    (value) => expect.fail(`it answered ${JSON.stringify(value)}`),
    (thrown) => thrown,
  );
const remote = (name: string, more: object = {}) => ({ name, inputSchema: { type: "object" }, ...more }) as RemoteTool;
const offer = (options: object = {}, more: Partial<Offer> = {}): Offer => ({
  options: McpOptions.parse({ url: "https://mcp.example/", ...options }),
  prefix: "remote_",
  vetted: { isChanged: () => false } as unknown as Offer["vetted"],
  access: { use: () => Promise.reject(new Error("not used")), spanAttributes: { "mcp.method.name": "tools/call" } },
  server: "remote",
  runs: () => expect.fail("not used"),
  values: undefined,
  redact: (text) => text.replaceAll("s3cret", "[KEY]"),
  ...more,
});

describe("an MCP server's tools as ours", () => {
  it("have names that models accept, once each, with the prefix", () => {
    const names = ["a.b c", "a_b_c", "ok-1", "x".repeat(80)];
    const leftOut: string[] = [];
    const tools = toTools(
      names.map((name) => remote(name, { description: name })),
      offer(),
      (tool, name) => leftOut.push(`${tool}: ${name}`),
    );
    expect(leftOut).to.deep.equal(["a_b_c: remote_a_b_c"]);
    expect(tools.map(({ name }) => name)).to.deep.equal(["remote_a_b_c", "remote_ok-1", `remote_${"x".repeat(57)}`]);
    expect(tools[0]?.description, "the first of two").to.equal("a.b c");
  });

  it("are described by what the server says, by its title, or by their name", () => {
    const described = (more: object) => toTools([remote("t", more)], offer())[0]?.description;
    expect(described({ description: "d", title: "x" })).to.equal("d");
    expect(described({ title: "x", annotations: { title: "y" } })).to.equal("x");
    expect(described({ annotations: { title: "y" } })).to.equal("y");
    expect(described({})).to.equal("The tool t");
  });

  it("have the effect of their hints, unless the config says another", () => {
    const effect = (annotations: object | undefined, options: object = {}) =>
      toTools([remote("t", annotations === undefined ? {} : { annotations })], offer(options))[0]?.effect;
    expect(effect(undefined)).to.equal("effectful");
    expect(effect({ readOnlyHint: true, idempotentHint: true })).to.equal("pure");
    expect(effect({ readOnlyHint: false, idempotentHint: true })).to.equal("idempotent");
    expect(effect({ idempotentHint: false })).to.equal("effectful");
    expect(effect({ readOnlyHint: true }, { effects: { t: "effectful" } })).to.equal("effectful");
  });

  it("that run as tasks only are left out; changed ones need approval; with tasks they are resumable", () => {
    const tasks = ["required", "optional", "forbidden"].map((taskSupport) =>
      remote(taskSupport, { execution: { taskSupport } }),
    );
    expect(toTools(tasks, offer()).map(({ name }) => name)).to.deep.equal(["remote_optional", "remote_forbidden"]);
    const vetted = { isChanged: ({ name }: RemoteTool) => name === "changed" } as unknown as Offer["vetted"];
    const [changed, same] = toTools([remote("changed"), remote("same")], offer({ tasks: true }, { vetted }));
    expect(changed).to.include({ approval: "always", resumable: true });
    expect(same).not.to.have.property("approval");
    expect(toTools([remote("t")], offer())[0]).not.to.have.property("resumable");
    expect(same?.spanAttributes?.()).to.deep.equal({ "mcp.method.name": "tools/call" });
    expect(same?.parameters).to.deep.equal({ type: "object" });
  });
});

describe("a failed call of an MCP tool", () => {
  const failed = (thrown: unknown, context: Partial<ToolContext> = {}, lastWords?: () => Promise<string>) => {
    const access = {
      use: () => Promise.reject(thrown),
      spanAttributes: {},
      ...(lastWords === undefined ? {} : { lastWords }),
    };
    const full = { ...silentToolContext(), ...context };
    return failureOf(explained(offer({}, { access }), full, () => expect.fail("not reached")));
  };
  const closed = () => Object.assign(new Error("gone"), { code: "CONNECTION_CLOSED" });

  it("says what the server said, without secrets", async () => {
    expect(await failed(new Error("no s3cret"))).to.include({
      op: "tool.call",
      code: "tool_failed",
      message: "no [KEY]",
    });
    const own = new VenturiError("tool.call", "tool_denied", "no");
    expect(await failed(own)).to.equal(own);
  });

  it("of a server that stopped tells its last words, and can be tried again", async () => {
    const error = await failed(closed(), {}, async () => "; its last words: s3cret");
    expect(error).to.include({ code: "unavailable" });
    expect(error.message).to.match(/being restarted; its last words: \[KEY\]$/);
    expect((await failed(closed())).message).to.match(/being restarted$/);
    expect((await failed(Object.assign(new Error("x"), { code: "OTHER" }))).code).to.equal("tool_failed");
  });

  it("that was cancelled is that, whatever the server did", async () => {
    const signal = AbortSignal.abort();
    expect(await failed(closed(), { signal })).to.include({ op: "tool.call", code: "stream_interrupted" });
  });
});

describe("an MCP server's questions", () => {
  const form = {
    message: "Who?",
    requestedSchema: {
      type: "object" as const,
      properties: { name: { type: "string" as const }, size: { type: "number" as const, default: 5 } },
    },
  };
  const asking = (verdict: object, run = "run_1") => {
    const asked: Question[] = [];
    const ask = async (question: Question) => {
      asked.push(question);
      return verdict as { approved: boolean };
    };
    return {
      asked,
      questions: new Questions({ ...silentToolContext(), run, ask }, { server: "remote", name: "tool" }),
    };
  };

  it("are the run's: a form with its fields, or a page to be visited", async () => {
    const { asked, questions } = asking({ approved: true, answer: { name: "Ann", other: 1 }, by: "ann" });
    expect(await questions.ask(form)).to.deep.equal({ action: "accept", content: { name: "Ann", size: 5 } });
    expect(asked[0]).to.deep.include({
      kind: "elicit",
      name: "tool",
      message: 'The server "remote" asks: Who?',
      schema: form.requestedSchema,
    });
    const page = { mode: "url" as const, message: "Pay", url: "https://pay.example/", elicitationId: "e" };
    expect(await questions.ask(page)).to.deep.equal({ action: "accept" });
    expect(asked[1]).to.deep.include({ url: "https://pay.example/", choices: ["done"] });
    expect(asked[1]).not.to.have.property("schema");
    const long = await questions.ask({ ...form, message: "x".repeat(5_000) });
    expect(long.action).to.equal("accept");
    expect((asked[2] as { message?: string }).message).to.have.length(4_000);
  });

  it("have an id that is the same after a restart, and another one each time", async () => {
    const { asked, questions } = asking({ approved: true });
    await questions.ask(form);
    await questions.ask(form);
    await questions.ask({ ...form, message: "Where?" });
    const again = asking({ approved: true });
    await again.questions.ask(form);
    const ids = asked.map(({ id }) => id);
    expect(new Set(ids).size).to.equal(3);
    expect(ids[0])
      .to.match(/^[0-9a-f]{12}-1$/)
      .and.equal(again.asked[0]?.id);
    expect(ids[1]).to.equal(ids[0]?.replace("-1", "-2"));
  });

  it("that a person refuses are declined, and unanswered ones cancelled", async () => {
    expect(await asking({ approved: false, by: "ann" }).questions.ask(form)).to.deep.equal({ action: "decline" });
    expect(await asking({ approved: false }).questions.ask(form)).to.deep.equal({ action: "cancel" });
    const empty = await asking({ approved: true, answer: "no form" }).questions.ask(form);
    expect(empty, "defaults only").to.deep.equal({ action: "accept", content: { size: 5 } });
    const nulls = await asking({ approved: true, answer: { name: null, size: 0 } }).questions.ask(form);
    expect(nulls).to.deep.equal({ action: "accept", content: { size: 0 } });
  });

  it("that come beside a call find it, unless calls of two runs are under way", async () => {
    const client = {} as Client;
    expect(await elicited(client, form)).to.deep.equal({ action: "cancel" });
    const [one, same, other] = [
      asking({ approved: true }),
      asking({ approved: true }),
      asking({ approved: true }, "run_2"),
    ];
    await one.questions.during(client, async () => {
      expect((await elicited(client, form)).action).to.equal("accept");
      await same.questions.during(client, async () => {
        expect((await elicited(client, form)).action, "two calls of one run").to.equal("accept");
      });
      await other.questions.during(client, async () => {
        expect(await elicited(client, form)).to.deep.equal({ action: "cancel" });
      });
      expect((await elicited(client, form)).action, "the other one has ended").to.equal("accept");
      expect((await failureOf(sampled(client, {} as never))).message).to.include("which call");
    });
    expect([one.asked.length, same.asked.length, other.asked.length]).to.deep.equal([3, 0, 0]);
    expect(await elicited(client, form)).to.deep.equal({ action: "cancel" });
  });
});

describe("what a trace says of an MCP server", () => {
  it("is its transport, host and port", () => {
    expect(serverAttributes(undefined)).to.deep.equal({ "network.transport": "pipe" });
    const at = (url: string) => serverAttributes(url)["server.port"];
    expect([at("https://a.example/x"), at("http://a.example"), at("http://a.example:81")]).to.deep.equal([443, 80, 81]);
    expect(serverAttributes("https://a.example/x")).to.deep.include({
      "network.transport": "tcp",
      "network.protocol.name": "http",
      "server.address": "a.example",
    });
  });
});
