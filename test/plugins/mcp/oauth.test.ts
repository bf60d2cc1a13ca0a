import { expect } from "chai";
import mcp from "../../../plugins/mcp/index.ts";
import { MemoryJournal } from "../../../plugins/memory/journal.ts";
import { systemClock } from "../../../src/core/ports/clock.ts";
import type { InputQuestion, Question, ToolContext, ToolSource, Verdict } from "../../../src/core/ports/tool.ts";
import type { Token } from "../../../src/core/values/token.ts";
import { callTool, testPluginContext, toolNamed } from "../../../src/testing.ts";
import { type Faults, startProtected } from "./authorization-server.ts";

type Source = ToolSource & { close(): Promise<void> };
const urlOf = (question: Question | undefined) => String((question as InputQuestion | undefined)?.url);
const redirectUrl = "http://127.0.0.1:9/mcp/callback";

describe("mcp: OAuth against an authorization server", () => {
  const closing: { close(): Promise<void> }[] = [];
  let journal: MemoryJournal;
  const questions: Question[] = [];

  beforeEach(() => {
    questions.length = 0;
    journal = new MemoryJournal({ clock: systemClock, keep: 1, lease: 10_000 });
  });
  afterEach(async () => {
    for (const one of closing.splice(0)) await one.close();
  });

  const serve = async (faults: Faults = {}) => {
    const server = await startProtected(faults);
    closing.push(server);
    return server;
  };
  const open = async (server: Awaited<ReturnType<typeof serve>>, auth = {}) => {
    const options = mcp.options.parse({
      url: server.url,
      auth: { redirectUrl, secret: "of at least 16 characters", allowPrivate: server.hosts, ...auth },
    });
    const resolve = <T>(_: Token<T>) => journal as T; // nothing else is asked for
    const source = (await mcp.create(options, testPluginContext({ name: "remote", resolve }))) as Source;
    closing.unshift(source);
    return source;
  };
  /** A person who opens the address and consents; `back` is where the browser ends. */
  const person =
    (change: (back: URL) => void = () => {}) =>
    async (question: Question): Promise<Verdict> => {
      questions.push(question);
      const reply = await fetch(urlOf(question), { redirect: "manual" });
      const back = new URL(reply.headers.get("location") ?? "");
      change(back);
      return { approved: true, by: "person", answer: { redirect: back.href } };
    };
  const as = (caller: string, given: Partial<ToolContext> = {}): Partial<ToolContext> => ({
    tenant: "acme",
    caller,
    ask: person(),
    ...given,
  });
  const call = async (source: Source, name: string, context: Partial<ToolContext>) =>
    (await callTool(toolNamed(source, `remote_${name}`), {}, context)).output;
  const failure = (promise: Promise<unknown>) =>
    promise.then(
      (value) => expect.fail(`it answered ${JSON.stringify(value)}`),
      (thrown) => thrown,
    );

  it("before anybody has signed in there is one tool, to do that; then the server's tools", async () => {
    const source = await open(await serve());
    expect(source.list().map(({ name }) => name)).to.deep.equal(["remote_connect"]);
    expect(await call(source, "connect", as("ann"))).to.contain("whoami");
    expect(questions).to.have.length(1);
    expect(await call(source, "whoami", as("ann"))).to.equal("you are ann");
    expect(questions).to.have.length(1);
  });

  it("each caller of each tenant signs in for itself", async () => {
    const server = await serve();
    const source = await open(server);
    await call(source, "connect", as("ann"));
    server.signedInAs("bob");
    expect(await call(source, "whoami", as("bob"))).to.equal("you are bob");
    expect(await call(source, "whoami", as("ann"))).to.equal("you are ann");
    server.signedInAs("other ann");
    expect(await call(source, "whoami", as("ann", { tenant: "else" }))).to.equal("you are other ann");
    expect(questions).to.have.length(3);
    const shared = await open(server, { per: "service" });
    await call(shared, "connect", as("ann"));
    await call(shared, "whoami", as("bob"));
    expect(questions).to.have.length(4);
  });

  it("an expired token is refreshed without a question, and the refresh token rotates", async () => {
    const server = await serve();
    const source = await open(server);
    await call(source, "connect", as("ann"));
    for (let time = 0; time < 3; time++) {
      server.expireAccess();
      expect(await call(source, "whoami", as("ann"))).to.equal("you are ann");
    }
    expect(questions).to.have.length(1);
  });

  it("tokens survive a restart, and nothing at rest shows them", async () => {
    const server = await serve();
    await call(await open(server), "connect", as("ann"));
    const again = await open(server);
    await call(again, "connect", as("ann"));
    expect(questions).to.have.length(1);
    const kept = JSON.stringify(await journal.keyValues.list("mcp-oauth"));
    for (const token of server.tokens()) expect(kept).not.to.contain(token);
    expect(kept).to.contain("user/");
    const otherKey = await open(server, { secret: "another one of 16 characters" });
    await call(otherKey, "connect", as("ann"));
    expect(questions).to.have.length(2);
  });

  it("revoked tokens are asked for again", async () => {
    const server = await serve();
    const source = await open(server);
    await call(source, "connect", as("ann"));
    server.revoke();
    expect(await call(source, "whoami", as("ann"))).to.equal("you are ann");
    expect(questions).to.have.length(2);
  });

  it("a wider scope is asked for when a call needs it", async () => {
    const source = await open(await serve());
    await call(source, "connect", as("ann"));
    expect(await call(source, "admin", as("ann"))).to.equal("you are ann");
    expect(questions).to.have.length(2);
    expect(new URL(urlOf(questions[1])).searchParams.get("scope")).to.contain("admin");
  });

  it("an answer of another authorization server (mix-up) is refused before its code is used", async () => {
    const server = await serve({ iss: "https://evil.example" });
    const thrown = await failure(call(await open(server), "connect", as("ann")));
    expect(thrown.code).to.equal("tool_denied");
    expect(server.tokenRequests).to.equal(0);
  });

  it("an answer with the state of another sign-in, or without one, is refused", async () => {
    for (const change of [
      (back: URL) => back.searchParams.set("state", "x"),
      (back: URL) => back.searchParams.delete("state"),
    ]) {
      const server = await serve();
      const thrown = await failure(call(await open(server), "connect", as("ann", { ask: person(change) })));
      expect(thrown.code).to.equal("tool_denied");
      expect(server.tokenRequests).to.equal(0);
    }
  });

  it("a server that offers only plain PKCE is refused: nobody is asked", async () => {
    const server = await serve({ challengeMethods: ["plain"] });
    await failure(call(await open(server), "connect", as("ann")));
    expect(questions).to.have.length(0);
  });

  it("metadata of another resource is refused: nobody is asked", async () => {
    const server = await serve({ resource: "https://bank.example/mcp" });
    await failure(call(await open(server), "connect", as("ann")));
    expect(questions).to.have.length(0);
  });

  it("tokens for another audience do not work, and asking ends", async () => {
    const server = await serve({ audience: "https://bank.example" });
    await failure(call(await open(server), "connect", as("ann")));
    expect(questions.length).to.be.within(1, 3);
  });

  it("an authorization server at a private address is not asked, unless the config allows it", async () => {
    const server = await serve();
    await failure(call(await open(server, { allowPrivate: [] }), "connect", as("ann")));
    expect(server.seen).to.deep.equal([]);
  });

  it("whoever does not sign in gets a refusal, and is asked again the next time", async () => {
    const source = await open(await serve());
    const ask = async (question: Question) => {
      questions.push(question);
      return { approved: false, by: "person", reason: "not today" };
    };
    expect((await failure(call(source, "connect", as("ann", { ask })))).message).to.equal("not today");
    expect(await call(source, "connect", as("ann"))).to.contain("whoami");
    expect(questions).to.have.length(2);
  });

  it("a sign-in that a restart interrupted is finished with the answer that came meanwhile", async () => {
    const server = await serve();
    const controller = new AbortController();
    let asked: Question | undefined;
    const ask = (question: Question) => {
      asked = question;
      controller.abort(new Error("the process ends"));
      return new Promise<Verdict>(
        (_, reject) =>
          controller.signal.addEventListener("abort", () => reject(controller.signal.reason)) ??
          reject(controller.signal.reason),
      );
    };
    await failure(call(await open(server), "connect", as("ann", { ask, signal: controller.signal, call: "c1" })));
    const verdict = await person()(asked as Question);
    const answered = async (question: Question) => {
      expect(urlOf(question)).to.equal(urlOf(asked));
      return verdict;
    };
    expect(await call(await open(server), "connect", as("ann", { ask: answered, call: "c1" }))).to.contain("whoami");
  });
});
