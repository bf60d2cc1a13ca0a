import { request } from "node:http";
import { expect } from "chai";
import { type Simulator, startSimulator } from "venturi/simulator";
import { events, post, prompt } from "./client.ts";

describe("the simulator", () => {
  let simulator: Simulator;
  let url: string;
  beforeEach(async () => {
    simulator = await startSimulator({ seed: 3 });
    url = `${simulator.url}/v1/chat/completions`;
  });
  afterEach(() => simulator.close());

  const content = async (body: object) =>
    events((await post(url, body)).text)
      .filter((event) => event !== "[DONE]")
      .map((event) => JSON.parse(event).choices[0]?.delta.content ?? "");

  it("gives the same bytes for the same seed and request, and others for another seed", async () => {
    const body = prompt("hello there", { model: "small" });
    const first = await post(url, body);
    const second = await post(url, body);
    const other = await startSimulator({ seed: 4 });
    const third = await post(`${other.url}/v1/chat/completions`, body);
    await other.close();
    expect(second.text).to.equal(first.text);
    expect(third.text).not.to.equal(first.text);
  });

  it("a request that is repeated is stamped, counted and failed anew", async () => {
    const stamps = prompt("", { model: "stamp-0-1" });
    const [first, second] = [(await content(stamps)).join(""), (await content(stamps)).join("")];
    expect(Number(second)).to.be.greaterThan(Number(first));
    const failing = prompt("x", { model: "echo!fail=1" });
    const seen = [await post(url, failing), await post(url, failing), await post(url, failing)];
    expect(seen.map((answer) => answer.status)).to.deep.equal([500, 200, 200]);
  });

  it("count-N says N numbers, a chunk each", async () => {
    const chunks = (await content(prompt("", { model: "count-50" }))).filter((text) => text !== "");
    expect(chunks).to.have.length(50);
    expect(chunks.at(-1)).to.equal("50 ");
  });

  it("args-N calls the first tool with exactly N bytes of arguments in fragments of 16", async () => {
    const tools = [
      {
        type: "function",
        function: { name: "put", parameters: { type: "object", properties: { body: { type: "string" } } } },
      },
    ];
    const calls = events((await post(url, prompt("", { model: "args-1000", tools }))).text)
      .filter((event) => event.includes('tool_calls":['))
      .map(
        (event): { function: { name?: string; arguments: string } } => JSON.parse(event).choices[0].delta.tool_calls[0],
      );
    const text = calls.map((call) => call.function.arguments).join("");
    expect(calls[0]?.function.name).to.equal("put");
    expect(Object.keys(JSON.parse(text))).to.deep.equal(["body"]);
    expect(text).to.have.length(1000);
    expect(calls[1]?.function.arguments).to.have.length(16);
    expect(calls).to.have.length(1 + Math.ceil(1000 / 16));
  });

  it("rounds-N calls a tool in N rounds and then answers", async () => {
    const tools = [{ type: "function", function: { name: "step" } }];
    const messages: object[] = [{ role: "user", content: "go" }];
    let rounds = 0;
    for (;;) {
      const answer = JSON.parse((await post(url, { model: "rounds-3", messages, tools })).text).choices[0];
      if (answer.finish_reason !== "tool_calls") break;
      rounds++;
      messages.push(answer.message, { role: "tool", tool_call_id: answer.message.tool_calls[0].id, content: "ok" });
    }
    expect(rounds).to.equal(3);
  });

  it("remembers what was said in the conversation", async () => {
    const messages = [
      { role: "user", content: "Hi, my name is Ada." },
      { role: "assistant", content: "Nice to meet you." },
      { role: "user", content: "What is my name?" },
    ];
    expect((await content({ model: "small", stream: true, messages })).join("")).to.equal("Your name is Ada.");
  });

  it("answers in JSON that fits a schema when one is given", async () => {
    const schema = {
      type: "object",
      properties: { city: { type: "string" }, days: { type: "integer" }, mood: { enum: ["good", "bad"] } },
      required: ["city", "days", "mood"],
    };
    const response_format = { type: "json_schema", json_schema: { name: "trip", schema } };
    const text = (await content(prompt("a bad trip to Rome for 3 days", { model: "small", response_format }))).join("");
    expect(JSON.parse(text)).to.deep.equal({ city: "Rome", days: 3, mood: "bad" });
  });

  it("keeps a record of each request: body, headers, wire, model, status, connection", async () => {
    await post(url, prompt("one"), { authorization: "Bearer abc" });
    await post(`${simulator.url}/v1/messages`, prompt("two"), { "x-simulate-fault": "status=529" });
    const [first, second] = simulator.requests;
    expect(first).to.deep.include({ method: "POST", wire: "openai", model: "echo", status: 200, body: prompt("one") });
    expect(first?.headers.authorization).to.equal("Bearer abc");
    expect(first?.endedAfter).to.be.greaterThan(0);
    expect(first?.closedByClient).to.equal(undefined);
    expect(second).to.deep.include({ wire: "anthropic", status: 529 });
  });

  it("keeps as many requests as configured", async () => {
    const forgetful = await startSimulator({ keep: 2 });
    for (const text of ["one", "two", "three"]) await post(`${forgetful.url}/v1/chat/completions`, prompt(text));
    await forgetful.close();
    expect(forgetful.requests.map((entry) => entry.body)).to.deep.equal([prompt("two"), prompt("three")]);
  });

  it("tells a client what is wrong with its request, and goes on", async () => {
    const bad = await new Promise<number>((resolve) => {
      const sent = request(url, { method: "POST" }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      sent.end("{");
    });
    expect(bad).to.equal(400);
    expect((await post(`${simulator.url}/v1beta/models/%ZZ:generateContent`, {})).status).to.equal(400);
    expect((await post(`${simulator.url}/nowhere`, {})).status).to.equal(404);
    expect((await content(prompt("still here"))).join("")).to.equal("still here");
  });

  it("sends the headers even when it stalls or breaks off before the first byte", async () => {
    const answer = await post(url, prompt("x"), { "x-simulate-fault": "drop@0" });
    expect([answer.status, answer.text, answer.ended]).to.deep.equal([200, "", "ECONNRESET"]);
  });

  it("closing ends stalled answers, and does not take that for the client's doing", async () => {
    const arrived = simulator.next();
    const pending = post(url, prompt("x"), { "x-simulate-fault": "stall@1" });
    const entry = await arrived;
    await simulator.close();
    expect(["ECONNRESET", "aborted"]).to.include(
      await pending.then(
        (answer) => answer.ended,
        (error) => error.code,
      ),
    );
    expect(entry.closedByClient).to.equal(undefined);
  });
});
