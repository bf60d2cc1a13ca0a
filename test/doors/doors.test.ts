import { spawnSync } from "node:child_process";
import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { agent, openVenturi, tool, type Venturi, VenturiError } from "venturi";
import { ClientError, VenturiClient } from "venturi/client";
import { isTerminal, RichOutput } from "venturi/plugin";
import { durationOf, Sentences } from "venturi/plugin/channel";
import { makeDoors } from "../../src/doors/door.ts";
import { RichOutput as InnerOutput } from "../../src/internal.ts";
import { isSlow } from "../sweep.ts";

const dist = fileURLToPath(new URL("../../", import.meta.url));
// biome-ignore lint/suspicious/noExplicitAny: what a program without types may pass
const any = (value: unknown): any => value;

async function thrownBy(call: () => unknown): Promise<VenturiError> {
  try {
    await call();
  } catch (thrown) {
    return thrown as VenturiError; // its shape is what is tested
  }
  throw new Error("nothing was thrown");
}

async function readAll(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items);
}

describe("the entry points", () => {
  it("throw or reject with an op and a code, whatever is passed to any function of any of them", () => {
    const words = ["--no-warnings", `${dist}test/doors/sweep.js`];
    const { stdout } = spawnSync(process.execPath, words, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
    const lines = stdout.trim().split("\n");
    const counted = /^(\d+) calls$/.exec(lines.pop() ?? "")?.[1];
    expect(lines.join("\n")).to.equal("");
    expect(Number(counted)).to.be.above(isSlow ? 20_000 : 10_000);
  });

  it("say which argument is wrong, and how", async () => {
    const error = await thrownBy(() => durationOf(1, any(null)));
    expect(`${error}`).to.equal(
      "plugin.durationOf: plugin_failed: durationOf(number, null): argument 2 has to be an object, not null",
    );
    expect(error).to.be.instanceOf(VenturiError);
    expect((await thrownBy(() => agent(any(undefined)))).message).to.equal(
      "agent(undefined): options has to be an object, not undefined",
    );
    expect((await thrownBy(() => new Sentences(any({})))).code).to.equal("plugin_failed");
    expect((await thrownBy(() => new Sentences().push(any(5)))).op).to.equal("plugin.Sentences.push");
  });

  it("name what JavaScript threw for a value deeper down", async () => {
    const error = await thrownBy(() => openVenturi({ agents: any(5) }));
    expect([error.op, error.code]).to.deep.equal(["venturi.openVenturi", "invalid_input"]);
    expect(error.cause).to.be.instanceOf(TypeError);
  });

  it("reject in a browser's client with a ClientError", async () => {
    const error = await thrownBy(() => new VenturiClient({ url: "http://127.0.0.1:9" }).start(any(null)));
    expect(error).to.be.instanceOf(ClientError);
    expect(`${error}`).to.match(
      /^client\.VenturiClient\.start: invalid_input: VenturiClient\.start\(null\): request has /,
    );
  });

  it("take a signal for an AbortSignal in options alone: an event's is a number", async () => {
    const event = {
      run: "run_1",
      seq: 3,
      at: 0,
      type: "approval.resolved",
      round: 1,
      call: "c",
      approved: true,
      signal: 1,
    };
    expect(isTerminal(any(event))).to.equal(false);
    const client = new VenturiClient({ url: "http://127.0.0.1:9" });
    const wrong = await thrownBy(() => client.agents(any({ signal: 5 })));
    expect(wrong.message).to.include("has to be an AbortSignal");
  });

  it("leave classes and places in the program what they are", async () => {
    expect(new InnerOutput("x")).to.be.instanceOf(RichOutput);
    expect(new RichOutput("x")).to.be.instanceOf(InnerOutput);
    class Louder extends Sentences {}
    expect([new Louder() instanceof Louder, new Sentences() instanceof Louder]).to.deep.equal([true, false]);
    const twice = { input: { "~standard": {} }, description: "d", call: () => "" };
    const one = tool(any({ name: "one", ...twice }));
    expect(JSON.stringify(one)).to.include("doors.test");
  });

  it("leave a method that one object has for itself to that object", async () => {
    class Counter {
      async add(): Promise<string> {
        return "the class's";
      }
    }
    const { door } = makeDoors((op, message, cause) => new VenturiError(op, "invalid_input", message, { cause }), {
      Counter: { add: " => promise" },
    });
    const plain = new Counter();
    const own = Object.assign(new Counter(), { add: async () => `its own, then ${await plain.add()}` });
    const hand = door("test.hand", (given: Counter) => given, "given: object => Counter");
    const answers = [];
    for (const counter of [own, plain, own, new Counter()]) answers.push(await hand(counter).add());
    expect(answers).to.deep.equal([
      "its own, then the class's",
      "the class's",
      "its own, then the class's",
      "the class's",
    ]);
  });

  it("cost built-in plugins nothing: those call what is behind the doors", () => {
    const plugins = globSync(`${dist}plugins/**/*.js`).filter(
      (file) => readFileSync(file, "utf8").match(/from "venturi\/(?:plugin|internal)/) !== null,
    );
    expect(plugins).to.deep.equal([]);
  });

  describe("of an opened Venturi", () => {
    let venturi: Venturi;
    before(async () => {
      venturi = await openVenturi({ agents: [agent({ name: "helper", model: "simulator/small" })] });
    });
    after(() => venturi.close());

    for (const [name, call] of Object.entries<(inputs: unknown) => unknown>({
      execute: (inputs) => venturi.agent("helper").execute(any(inputs)),
      streamExecute: (inputs) => readAll(venturi.agent("helper").streamExecute(any(inputs))),
      "streamPlan with steps": (inputs) => readAll(venturi.agent("helper").streamPlan([], any(inputs))),
      streamPlan: (steps) => readAll(venturi.agent("helper").streamPlan(any(steps), "Hello")),
      run: (input) => venturi.run("helper" as never, any(input)),
      session: (id) => venturi.session(any(venturi.agent("helper")), any(id)),
      get: (run) => venturi.get(any(run)),
    })) {
      it(`${name} refuses what is no input`, async () => {
        for (const value of [null, undefined, 5, true, Symbol("x"), () => {}]) {
          const error = await thrownBy(() => call(value));
          expect(error).to.be.instanceOf(VenturiError);
          expect(error.code).to.equal("invalid_input");
        }
      });
    }

    it("a stream that is refused can be asked again, and left", async () => {
      const stream = venturi.agent("helper").streamExecute(any(null))[Symbol.asyncIterator]();
      expect((await thrownBy(() => stream.next())).op).to.equal("agent.streamExecute");
      expect(await stream.return?.()).to.deep.equal({ done: true, value: undefined });
    });

    it("a good call passes, and its handle has doors as well", async () => {
      const run = await venturi.start(venturi.agent("helper"), "Hello");
      expect((await run.result()).text).not.to.equal("");
      expect((await thrownBy(() => run.approve(any(5)))).op).to.equal("run.approve");
      expect((await thrownBy(() => readAll(run.events({ signal: any(5) })))).message).to.include("an AbortSignal");
    });
  });
});
