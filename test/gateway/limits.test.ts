import { assert } from "chai";
import { begin, end, stop } from "../plugins/anthropic/events.ts";
import * as chat from "../plugins/openai/streams.ts";
import * as responses from "../plugins/openai-responses/streams.ts";
import { type Gateway, gateway } from "./gateway.ts";

const wires = {
  openai: { answer: chat.text, cap: "max_tokens", path: "/openai/v1/chat/completions" },
  "openai-responses": { answer: responses.text, cap: "max_output_tokens", path: "/openai/v1/responses" },
  anthropic: { answer: begin + stop("end_turn") + end, cap: "max_tokens", path: "/anthropic/v1/messages" },
};

for (const [provider, { answer, cap, path }] of Object.entries(wires)) {
  describe(`tokens before a request to ${provider}`, () => {
    let open: Gateway;
    afterEach(() => open.close());
    const body = (text: string) => ({
      ...{ model: "agent", max_tokens: 50_000, max_output_tokens: 50_000 },
      ...(path.endsWith("responses") ? { input: text } : { messages: [{ role: "user", content: text }] }),
    });

    it("that are more than the run may use keep it from being sent", async () => {
      open = await gateway({ provider, answer, agent: ", limits: { tokens: 10 }" });
      for (const text of ["Hi", "x".repeat(2_400)]) {
        const run = await open.post("/v1/runs", { agent: "agent", input: text });
        assert.deepInclude(await run.json(), { finish: "max_tokens", output: "", usage: {} });
        assert.equal((await open.post(path, body(text))).status, 200);
      }
      assert.isEmpty(open.vendor.requests);
    });

    it("that are more than the context keep it from being sent, with an error that says so", async () => {
      const more = "models: { small: { chain: [up/m], contextTokens: 8000 } }";
      open = await gateway({ provider, answer, more, agents: "agents: { agent: { model: small } }" });
      const response = await open.post(path, body("x".repeat(300_000)));
      assert.equal(response.status, 413);
      assert.match(await response.text(), /about 75\d\d\d tokens, and the model takes 8000/);
      assert.isEmpty(open.vendor.requests);
      assert.equal((await open.post(path, body("Hi"))).status, 200);
      assert.isBelow(open.bodies()[0]?.[cap] as number, 8_000);
    });

    it("that are left cap the answer, whatever the caller asks for", async () => {
      open = await gateway({
        provider,
        answer,
        settings: provider === "openai" ? ", maxTokensKey: max_tokens" : "",
        agent: ", limits: { tokens: 300 }",
      });
      await (await open.post(path, body("Hi"))).text();
      await (await open.post("/v1/runs", { agent: "agent", input: "Hi", options: { maxTokens: 9_000 } })).text();
      await (await open.post("/v1/runs", { agent: "agent", input: "Hi", options: { maxTokens: null } })).text();
      assert.lengthOf(open.bodies(), 3);
      for (const sent of open.bodies()) assert.isAtMost(sent[cap] as number, 299);
    });
  });
}
