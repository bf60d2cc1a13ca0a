import { expect } from "chai";
import channelHttp from "../../../plugins/channel-http/index.ts";
import { hello, serve, type TestService } from "../../service.ts";

const hasExample = (part: unknown): boolean => /"examples?":/.test(JSON.stringify(part ?? {}));

describe("complaints about requests", () => {
  let service: TestService;
  before(async () => {
    service = await serve({ scripts: { hello }, channels: [{ plugin: channelHttp }] });
  });
  after(() => service.close());
  const post = async (path: string, body: unknown) => {
    const response = await fetch(service.url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    const { error } = (await response.json()) as { error: { err: string; details: { issues: unknown[] } } };
    return { status: response.status, err: error?.err, issues: error?.details?.issues };
  };

  for (const [what, body, says] of [
    [
      "a key that is missing for being misspelt",
      { agent: "hello", inpt: "x" },
      'inpt: unknown key (did you mean "input"?)',
    ],
    ["a misspelt key", { agnet: "hello", agent: "hello", input: "x" }, 'agnet: unknown key (did you mean "agent"?)'],
    ["a missing key", { agent: "hello" }, "input: this key is required"],
    ["a wrong type", { agent: 7, input: "x" }, "agent: expected a text, found a number"],
    [
      "a union's misspelt key",
      { agent: "hello", input: { txt: "x" } },
      'input.txt: unknown key (did you mean "text"?)',
    ],
    [
      "a union of nothing that fits",
      { agent: "hello", input: 7 },
      "input: expected a text or keys and values, found a number",
    ],
    [
      "a part deep inside",
      { agent: "hello", input: { messages: [{ role: "usr", parts: [] }] } },
      "input.messages.0.role: expected one of",
    ],
    ["no body at all", [], "body: expected keys and values, found a list"],
  ] as const) {
    it(`${what} is reported with its path`, async () => {
      const { status, err, issues } = await post("/v1/runs", body);
      expect(status).to.equal(400);
      expect(err).to.contain(says);
      expect(issues).to.have.length.greaterThan(0);
    });
  }

  for (const [path, says] of [
    ["/v1/runs?stats=banana", 'stats: unknown key (did you mean "status"?)'],
    ["/v1/runs?status=banana", "status: expected one of ready, running, waiting, finished, failed"],
    ["/v1/agents?agent=x", "agent: unknown key"],
    ["/v1/approvals?limit=0", "limit: "],
  ] as const) {
    it(`GET ${path} is 400`, async () => {
      const response = await fetch(service.url + path);
      const { error } = (await response.json()) as { error: { err: string } };
      expect([response.status, error.err.includes(says)], error.err).to.deep.equal([400, true]);
    });
  }

  it("every endpoint of the API has an example in the OpenAPI document", async () => {
    const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, { requestBody?: object; responses: Record<string, unknown> }>>;
    };
    const without: string[] = [];
    for (const [path, methods] of Object.entries(document.paths)) {
      if (!path.startsWith("/v1/")) continue;
      for (const [method, operation] of Object.entries(methods)) {
        const asked = operation.requestBody === undefined || hasExample(operation.requestBody);
        const good = operation.responses["200"] ?? operation.responses["201"] ?? operation.responses["202"];
        if (!asked || !hasExample(good)) without.push(`${method} ${path}`);
      }
    }
    expect(without).to.deep.equal([]);
  });
});
