import { expect } from "chai";
import { testFolder } from "../host/folder.ts";
import { venturi } from "./venturi.ts";

const shop = `
openapi: 3.1.0
info: { title: shop, version: "1" }
servers: [{ url: http://127.0.0.1:9 }]
paths:
  /payments:
    post:
      operationId: pay
      requestBody:
        required: true
        content:
          application/json:
            schema: { type: object, properties: { price: { type: number } }, required: [price] }
      responses: { "200": { description: ok } }
`;
const config = (when: string) => `
version: 1
providers: { demo: { type: simulator, pace: 0 } }
tools:
  shop: { type: http, openapi: { file: ./shop.yaml, operations: [pay] }, approval: { when: ${JSON.stringify(when)} } }
agents: { assistant: { model: demo/small, tools: [shop] } }
channels: {}
journal: { type: memory }
`;

describe("what the commands say", function () {
  this.timeout(180_000);
  const folder = testFolder();

  it("validate refuses a condition on an argument that the tool's schema does not have", async () => {
    const file = folder.write({ "venturi.yaml": config("has(args.price) && args.price > 100"), "shop.yaml": shop });
    const { exit, err } = await venturi(["validate", "--config", file]);
    expect(exit).to.equal(78);
    expect(err).to.include("tools.shop.approval").and.to.include("args.body.price");
    folder.write({ "venturi.yaml": config("has(args.body.price) && args.body.price > 100") });
    const { exit: good, out } = await venturi(["validate", "--config", file]);
    expect(out).to.include("is valid");
    expect(good).to.equal(0);
  });

  it("a run that fails prints its error once", async () => {
    const yaml = `
version: 1
providers: { demo: { type: simulator, pace: 0 } }
agents: { assistant: { model: demo/small!status=418 } }
channels: {}
journal: { type: memory }
`;
    const { exit, out, err } = await venturi([
      "run",
      "--config",
      folder.write({ "venturi.yaml": yaml }),
      "assistant",
      "hi",
    ]);
    expect(exit).to.not.equal(0);
    const told = `${out}${err}`.split("\n").filter((line) => /llm_error|418/.test(line));
    expect(told, `${out}${err}`).to.have.length(1);
  });
});
