import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { silentLog } from "../../src/core/ports/log.ts";
import { openService, type Service } from "../../src/host/service.ts";
import { testFolder } from "../host/folder.ts";

const usage = { prompt_tokens: 1000, completion_tokens: 100 };
const answer = [
  { choices: [{ index: 0, delta: { content: "hello" }, finish_reason: "stop" }] },
  { choices: [], usage },
];

describe("venturi.cost.usd", () => {
  const folder = testFolder();
  let server: Server;
  let service: Service;
  beforeEach(async () => {
    // The model "still" never answers.
    server = createServer(async (request, response) => {
      let body = "";
      for await (const piece of request) body += piece;
      if (JSON.parse(body).model === "still") return;
      response.setHeader("content-type", "text/event-stream");
      for (const each of answer) response.write(`data: ${JSON.stringify({ id: "1", ...each })}\n\n`);
      response.end("data: [DONE]\n\n");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
    const config = `
providers: { one: { type: openai, baseUrl: "${url}", apiKey: k }, two: { type: openai, baseUrl: "${url}", apiKey: k } }
prices: { one/still: { input: 1, output: 2 }, two/vendor/quick: { input: 3, output: 5 } }
models: { both: { chain: [one/still, two/vendor/quick], hedge: { after: 20ms } } }
agents: { a: { model: both } }
journal: { type: memory }
server: { listen: 0 }
limits: { drain: 50ms }
`;
    service = await openService({ configFile: folder.write({ "venturi.yaml": config }), env: {}, log: silentLog });
  });
  afterEach(async () => {
    await service.drain();
    server.close();
    server.closeAllConnections();
  });

  it("has the cost of a model that another one overtook under the same names as its other figures", async () => {
    const { run } = await service.host.runs.start({ agent: "a", input: { text: "Hello." } });
    for await (const _ of service.host.runs.follow(run));
    const text = await (await fetch(`${service.url}/metrics`)).text();
    const costs = [...text.matchAll(/^venturi_cost_usd_total\{(.*)\} (\S+)$/gm)].map(([, labels = "", value]) => [
      /gen_ai_provider_name="(.*?)"/.exec(labels)?.[1],
      /gen_ai_request_model="(.*?)"/.exec(labels)?.[1],
      Number(value) > 0,
    ]);
    expect(costs).to.have.deep.members([
      ["openai", "still", true],
      ["openai", "vendor/quick", true],
    ]);
    expect(text).to.match(/gen_ai_client_token_usage_sum\{[^}]*gen_ai_request_model="vendor\/quick"/);
  });
});
