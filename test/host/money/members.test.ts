import { expect } from "chai";
import { loadConfig } from "../../../src/host/config/load.ts";
import { testFolder } from "../folder.ts";

describe("a model's choice among its chain", () => {
  const folder = testFolder();
  const refusal = (model: string) =>
    loadConfig({
      file: folder.write({
        "venturi.yaml": `providers: { demo: { type: simulator }, spare: { type: simulator } }
models:
  main: ${model}
agents: { a: { model: main } }
`,
      }),
      env: {},
    }).then(
      () => "accepted",
      (thrown: Error) => thrown.message.replaceAll(/^.*venturi\.yaml:/gm, ""),
    );

  it("that is invalid is refused with its location", async () => {
    const chain = "chain: [demo/large, spare/large]";
    const good = `{ ${chain}, members: { demo/large: { weight: 2, concurrency: 3 } }, hedge: { after: 2s } }`;
    expect(await refusal(good)).to.equal("accepted");
    // `^` is where the mistake is.
    for (const [model, said] of [
      [`{ ${chain}, members: { demo/larg: ^{} } }`, 'members.demo/larg: "demo/larg" is not in this chain'],
      [`{ ${chain}, members: { demo/large: { weight: ^-1 } } }`, "members.demo/large.weight: "],
      [`{ ${chain}, members: { demo/large: { weight: ^0 } } }`, "members.demo/large.weight: "],
      [`{ ${chain}, members: { demo/large: { concurrency: ^0 } } }`, "members.demo/large.concurrency: "],
      [`{ ${chain}, members: { demo/large: { tokensPerMinute: ^1.5 } } }`, "members.demo/large.tokensPerMinute: "],
      [`{ ${chain}, members: { demo/large: { contextTokens: ^-5 } } }`, "members.demo/large.contextTokens: "],
      [`{ ${chain}, members: { demo/large: { ^speed: 1 } } }`, "members.demo/large.speed: unknown key"],
      [`{ ${chain}, choose: ^random }`, "choose: expected one of order, weighted, fastest, cheapest, leastBusy"],
      [`{ ${chain}, hedge: { after: ^soon } }`, "hedge.after: "],
      ["{ chain: [demo/large], hedge: ^{ after: 2s } }", "hedge: a hedge needs a second model in the chain"],
      [`{ ${chain}, economy: ^spar/small }`, 'economy: "spar" is not among the providers'],
      [`{ ${chain}, economy: ^main }`, "economy: a model is no cheaper than itself"],
      [`{ ${chain}, responses: { ttl: ^-1s, tenants: all } }`, "responses.ttl: "],
      [`{ ${chain}, ^responses: { ttl: 1h } }`, "responses.tenants: "],
    ] as const) {
      const column = "  main: ".length + model.indexOf("^") + 1;
      const answer = await refusal(model.replace("^", ""));
      expect(answer.slice(0, said.length + 30), model).to.contain(`3:${column} models.main.${said}`);
    }
  });
});
