import { expect } from "chai";
import { ServiceProcess } from "./service-process.ts";

const tool = (body: string) => `
import fs from "node:fs";
import net from "node:net";
const wait = () => new Promise((resolve) => setTimeout(resolve, 5_000));
export default { description: "Misbehaves", parameters: { type: "object" }, effect: "pure", async call() { ${body} } };
`;

/** Ways to throw where no caller can catch it. */
const ways: Readonly<Record<string, string>> = {
  timer: 'setTimeout(() => { throw new Error("late") }, 5); await wait();',
  interval: 'setInterval(() => { throw new Error("late") }, 5); await wait();',
  immediate: 'setImmediate(() => { throw new Error("late") }); await wait();',
  tick: 'process.nextTick(() => { throw new Error("late") }); await wait();',
  rejection: 'Promise.reject(new Error("late")); await wait();',
  later: 'setTimeout(async () => { await null; throw new Error("late") }, 5); await wait();',
  file: 'fs.readFile("/nonexistent", () => { throw new Error("late") }); await wait();',
  emitter: 'net.connect(1, "127.0.0.1"); await wait();',
  afterwards: 'setTimeout(() => { throw new Error("late") }, 300); return "done";',
};
/** What an isolated tool may do to its thread. */
const crashes: Readonly<Record<string, string>> = {
  blocks: "for (;;);",
  exits: "process.exit(7);",
  throws: 'setTimeout(() => { throw new Error("late") }, 5); await wait();',
  fills: "const all = []; for (;;) all.push(new Array(1e5).fill(all.length));",
};

const names = [...Object.keys(ways), ...Object.keys(crashes)];
const config = `
version: 1
providers:
  demo:
    type: simulator
    pace: 0
    scenarios:
${names.map((name) => `      - { name: ${name}, turns: [{ calls: [{ name: ${name}, arguments: {} }] }, { text: "told: it is over" }] }`).join("\n")}
      - { name: sums, turns: [{ calls: [{ name: sums, arguments: { a: 2, b: 3 } }] }, { text: "five" }] }
tools:
${Object.keys(ways)
  .map((name) => `  ${name}: { type: module, path: ./${name}.mjs }`)
  .join("\n")}
${Object.keys(crashes)
  .map((name) => `  ${name}: { type: module, path: ./${name}.mjs, isolate: true, timeout: 1s }`)
  .join("\n")}
  sums: { type: module, path: ./sums.mjs, isolate: true }
agents:
${[...names, "sums"].map((name) => `  ${name}: { model: demo/${name}, tools: [${name}], toolPolicy: { grace: 50ms } }`).join("\n")}
journal: { type: memory }
channels: { http: {} }
server: { listen: 0 }
telemetry: { logs: { format: json } }
`;
const sums = `
export default {
  description: "Adds",
  parameters: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
  effect: "pure",
  async *call({ a, b }, context) { yield "adding for " + context.agent; return { sum: a + b }; },
};
`;

describe("a tool that throws where nothing can catch it", function () {
  this.timeout(180_000);
  let service: ServiceProcess;
  before(async () => {
    const files = Object.entries({ ...ways, ...crashes }).map(([name, body]) => [`${name}.mjs`, tool(body)]);
    service = await ServiceProcess.start({ "venturi.yaml": config, "sums.mjs": sums, ...Object.fromEntries(files) });
  });
  after(() => service.stop());

  for (const name of Object.keys(ways)) {
    it(`ends its own run, is named, and the service goes on: ${name}`, async () => {
      const { status, body } = await service.run(name);
      if (name === "afterwards") expect(body).to.include({ status: "finished" });
      else {
        expect(status).to.equal(500);
        expect(body).to.have.nested.property("error.code", "plugin_failed");
        expect(body).to.have.nested.property("error.err").that.includes(`tool ${name} threw outside its call`);
      }
      while (!service.words.includes(`"what":"tool ${name}"`)) await new Promise((resolve) => setTimeout(resolve, 10));
      expect(service.alive).to.equal(true);
      await ready(service);
    });
  }

  for (const name of Object.keys(crashes)) {
    it(`isolated, it costs its call alone, and others are answered meanwhile: ${name}`, async () => {
      const going = service.run(name);
      await (await fetch(`${service.url}/livez`)).text();
      const { body } = await going;
      expect(body).to.include({ status: "finished", output: "told: it is over" });
      expect(service.alive).to.equal(true);
    });
  }

  it("isolated, it works as it does otherwise", async () => {
    for (let time = 0; time < 3; time++) expect((await service.run("sums")).body).to.include({ output: "five" });
    const { run } = (await service.run("sums")).body;
    const events = await (await fetch(`${service.url}/v1/runs/${run}/events`)).text();
    expect(events).to.include("adding for sums").and.include('{\\"sum\\":5}');
  });

  it("the readiness tells how long the event loop was blocked", async () => {
    const body = await ready(service);
    expect(body).to.have.property("eventLoop").with.keys("blockedMs", "longestMs");
  });
});

/** What it answers once it is ready: on a machine that stalls it may be busy for a while. */
async function ready(service: ServiceProcess): Promise<unknown> {
  for (;;) {
    const answer = await fetch(`${service.url}/readyz`);
    if (answer.status === 200) return answer.json();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
