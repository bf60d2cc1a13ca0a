import { readFile } from "node:fs/promises";
import { request } from "node:http";
import { expect } from "chai";
import { VenturiError } from "venturi/plugin";
import { faultRules, parseFaults } from "../../../plugins/simulator/faults.ts";
import { type Simulator, startSimulator } from "../../../plugins/simulator/server.ts";
import { events, post, prompt, refuses } from "./client.ts";
import { both } from "./tools.ts";

describe("the grammar of faults", () => {
  it("reads name, value, position and probability", () => {
    expect(parseFaults("error=529@4~0.5, stall@?")).to.deep.equal([
      { name: "error", value: "529", position: 4, probability: 0.5 },
      { name: "stall", value: undefined, position: "?", probability: 1 },
    ]);
  });

  for (const [words, hint] of [
    ["stal@5", "the faults are"],
    ["stall", "it needs @position"],
    ["delay", "it needs =value"],
    ["crlf@3", "it does not support @position"],
    ["missing-id=2", "it does not support =value"],
    ["delay=soon", "its value is a number"],
    ["cut@3~2", "its probability is between 0 and 1"],
  ] as const) {
    it(`says what is wrong with "${words}"`, () => {
      expect(() => parseFaults(words)).to.throw(VenturiError, hint);
    });
  }
});

describe("docs/simulator.md", () => {
  it("lists every fault there is, and no other", async () => {
    const page = await readFile("docs/simulator.md", "utf8");
    const table = page.slice(page.indexOf("## Faults"), page.indexOf("## In tests"));
    const named = [...table.matchAll(/^\| `([a-z0-9-]+)/gm)].map((match) => match[1]);
    expect(named).to.have.members(Object.keys(faultRules));
  });
});

describe("the simulator's faults", () => {
  let simulator: Simulator;
  let url: string;
  beforeEach(async () => {
    simulator = await startSimulator({ seed: 7 });
    url = `${simulator.url}/v1/chat/completions`;
  });
  afterEach(() => simulator.close());

  const ask = (fault: string, body: object = prompt("a b c d e f")) => post(url, body, { "x-simulate-fault": fault });
  const whole = async () => (await post(url, prompt("a b c d e f"))).text;

  it("cut ends the body in good order after exactly that many bytes", async () => {
    const answer = await ask("cut@333");
    expect(answer.text).to.equal((await whole()).slice(0, 333));
    expect(answer.ended).to.equal("end");
  });

  it("drop and reset break the connection off after exactly that many bytes", async () => {
    for (const how of ["drop", "reset"]) {
      const answer = await ask(`${how}@333`);
      expect(answer.text).to.equal((await whole()).slice(0, 333));
      expect(answer.ended).to.equal("ECONNRESET");
      expect(simulator.requests[0]?.closedByClient).to.equal(undefined);
    }
  });

  it("a place marked ? is drawn from the seed: another simulator with the same seed cuts at the same byte", async () => {
    const first = await ask("cut@?");
    const other = await startSimulator({ seed: 7 });
    const second = await post(`${other.url}/v1/chat/completions`, prompt("a b c d e f"), {
      "x-simulate-fault": "cut@?",
    });
    await other.close();
    expect(first.text).to.have.length.greaterThan(0);
    expect(second.text).to.equal(first.text);
    expect((await ask("cut@?")).text).not.to.equal(first.text);
  });

  it("stall sends that many chunks and then nothing, and sees when the client gives up", async () => {
    const arrived = simulator.next();
    const sent = request(url, { method: "POST", headers: { "x-simulate-fault": "stall@3" } });
    sent.end(JSON.stringify(prompt("a b c d e f")));
    const text = await new Promise<string>((resolve) => {
      sent.once("response", (response) => {
        let text = "";
        response.on("error", () => {});
        response.on("data", (bytes: Buffer) => {
          text += bytes;
          if (events(text).length === 3) resolve(text);
        });
      });
    });
    expect(events(text)).to.have.length(3);
    const entry = await arrived;
    expect(entry.closedByClient).to.equal(undefined);
    sent.destroy();
    await entry.done;
    expect(entry.closedByClient).to.be.greaterThan(0);
    expect(entry.endedAfter).to.equal(undefined);
  });

  it("a client that leaves a paced answer is seen to leave", async () => {
    const arrived = simulator.next();
    const sent = request(url, { method: "POST" });
    sent.on("error", () => {});
    sent.end(JSON.stringify(prompt("", { model: "pace-20-100000" })));
    await new Promise<void>((resolve) => {
      sent.once("response", (response) => {
        response.on("error", () => {});
        response.once("data", () => resolve());
      });
    });
    sent.destroy();
    const entry = await arrived;
    await entry.done;
    expect(entry.closedByClient).to.be.greaterThan(0);
  });

  it("one-byte and split-utf8 break every character beyond ASCII over reads without changing a byte", async () => {
    const body = prompt("naïve 北京 🚀");
    const plain = await ask("", body);
    const split = await ask("split-utf8", body);
    const single = await ask("one-byte", body);
    expect(split.text).to.equal(plain.text);
    expect(single.text).to.equal(plain.text);
    expect(single.reads.every((read) => read.length === 1)).to.equal(true);
    const beyond = split.reads.filter((read) => (read[0] ?? 0) >= 0x80);
    expect(beyond.map((read) => read.length)).to.deep.equal(new Array(2 + 6 + 4).fill(1));
  });

  it("malformed replaces one chunk by something that is no JSON", async () => {
    const found = events((await ask("malformed@3")).text);
    expect(() => JSON.parse(found[2] ?? "")).to.throw();
    expect(() => JSON.parse(found[3] ?? "")).not.to.throw();
  });

  it("error ends the stream with the wire's own error and status 200", async () => {
    const answer = await ask("error=429@3");
    const found = events(answer.text);
    expect(answer.status).to.equal(200);
    expect(found).to.have.length(4);
    expect(JSON.parse(found[3] ?? "").error.code).to.equal("rate_limit_exceeded");
  });

  it("unknown-event, comments and crlf add what a client must ignore", async () => {
    const answer = await ask("unknown-event@2,comments,crlf");
    expect(answer.text).to.contain("event: simulator.unknown\r\n");
    expect(answer.text.match(/: keep-alive\r\n/g)).to.have.length(6);
    expect(answer.text.replaceAll("\r\n", "")).not.to.contain("\n");
  });

  it("duplicate-index and missing-id shape the tool calls", async () => {
    const tools = both.map((tool) => ({ type: "function", function: tool }));
    const answer = await ask("duplicate-index,missing-id", prompt("", { model: "calls-2", tools }));
    const deltas = events(answer.text)
      .filter((event) => event.includes('tool_calls":['))
      .flatMap((event): { index: number; id?: string }[] => JSON.parse(event).choices[0].delta.tool_calls);
    expect(new Set(deltas.map((delta) => delta.index))).to.deep.equal(new Set([0]));
    expect(deltas.filter((delta) => delta.id !== undefined)).to.deep.equal([]);
  });

  it("late-usage sends usage after the finish, and missing-end leaves the format's end out", async () => {
    const late = events((await ask("late-usage")).text);
    expect(JSON.parse(late.at(-2) ?? "").usage.completion_tokens).to.be.greaterThan(0);
    expect((await ask("missing-end")).text).not.to.match(/finish_reason":"|\[DONE\]/);
  });

  it("rate-limit asks for a wait in both headers, status answers any status", async () => {
    const limited = await ask("rate-limit=1500");
    expect(limited.status).to.equal(429);
    expect(limited.headers).to.include({ "retry-after-ms": "1500", "retry-after": "2" });
    expect((await ask("status=503")).status).to.equal(503);
  });

  it("fail answers the first N requests of a key with an error and then goes well", async () => {
    const again = (key: string) => post(url, prompt("x"), { "x-simulate-fault": "fail=2:502", "x-simulate-key": key });
    const seen: number[] = [];
    for (const key of ["a", "a", "b", "a", "a"]) seen.push((await again(key)).status);
    expect(seen).to.deep.equal([502, 502, 502, 200, 200]);
  });

  it("a probability is drawn anew for each request, in an order that the seed fixes", async () => {
    const draw = async (server: Simulator) => {
      const seen: number[] = [];
      for (let count = 0; count < 20; count++) {
        const target = `${server.url}/v1/chat/completions`;
        seen.push((await post(target, prompt("x"), { "x-simulate-fault": "status=500~0.5" })).status);
      }
      return seen;
    };
    const other = await startSimulator({ seed: 7 });
    const [first, second] = [await draw(simulator), await draw(other)];
    await other.close();
    expect(new Set(first)).to.deep.equal(new Set([200, 500]));
    expect(second).to.deep.equal(first);
  });

  it("delay comes before the headers, first after them", async () => {
    const times = async (fault: string) => {
      const start = performance.now();
      const sent = request(url, { method: "POST", headers: { "x-simulate-fault": fault } });
      sent.end(JSON.stringify(prompt("a")));
      return new Promise<{ headers: number; body: number }>((resolve) => {
        sent.once("response", (response) => {
          const headers = performance.now() - start;
          response.once("data", () => resolve({ headers, body: performance.now() - start - headers }));
          response.resume();
        });
      });
    };
    expect((await times("delay=80")).headers).to.be.at.least(79);
    const slow = await times("first=80");
    expect(slow.body).to.be.at.least(60);
  });

  it("pace spreads the chunks over time", async () => {
    const start = performance.now();
    const answer = await ask("pace=10");
    expect(performance.now() - start).to.be.at.least(50);
    expect(answer.text).to.equal(await whole());
    expect(answer.reads.length).to.be.greaterThan(1);
  });

  it("refuse resets the request, refuses new connections for a while and then accepts again", async () => {
    const failed = await ask("refuse=300").catch((error: NodeJS.ErrnoException) => error.code);
    expect(failed).to.equal("ECONNRESET");
    expect(await refuses(simulator.port)).to.equal(true);
    while (await refuses(simulator.port)) await new Promise((resolve) => setImmediate(resolve));
    expect(await whole()).to.contain("[DONE]");
  });

  it("refuse and accept do the same by hand", async () => {
    await simulator.refuse();
    expect(await refuses(simulator.port)).to.equal(true);
    await simulator.accept();
    expect(await refuses(simulator.port)).to.equal(false);
  });

  it("a fault may stand in the model's name, where no header can be set", async () => {
    const answer = await post(url, prompt("a b c", { model: "echo!cut@100" }));
    expect(answer.text).to.have.length(100);
    expect(simulator.requests[0]?.model).to.equal("echo");
  });

  it("a fault that does not exist is a 400 that lists those that do", async () => {
    const answer = await ask("explode");
    expect(answer.status).to.equal(400);
    for (const name of Object.keys(faultRules)) expect(answer.text).to.contain(name);
  });
});
