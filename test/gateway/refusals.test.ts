import { assert } from "chai";
import * as chat from "../plugins/openai/streams.ts";
import { type Gateway, gateway } from "./gateway.ts";

// biome-ignore lint/suspicious/noExplicitAny: vendors' errors, read by path
type Json = any;
const path = "/openai/v1/chat/completions";
const ask = (content: unknown, model = "agent") => ({ model, messages: [{ role: "user", content }] });

describe("a request to a vendor's surface", () => {
  let open: Gateway;
  before(async () => {
    open = await gateway({
      provider: "openai",
      answer: chat.text,
      agent: ', aliases: [gpt-4o, "openai/gpt-4o"] }, "vendor/x@2026-01-01:free": { model: up/m',
    });
  });
  after(() => open.close());

  it("that is wrong in one of several forms gets the place, the word and the nearest known one", async () => {
    const cases: readonly [unknown, string, RegExp][] = [
      [{ ...ask("x"), messages: [{ role: "usr", content: "x" }] }, "messages.0.role", /did you mean "user"/],
      [ask([{ type: "text", text: 3 }]), "messages.0.content.0.text", /expected a text/],
      [ask([{ type: "image_url", image_url: {} }]), "messages.0.content.0.image_url.url", /required/],
      [{ ...ask("x"), tools: [{ type: "function", function: {} }] }, "tools.0.function.name", /required/],
      [{ ...ask("x"), tool_choice: "atuo" }, "tool_choice", /./],
    ];
    for (const [body, param, message] of cases) {
      const response = await open.post(path, body);
      const { error } = (await response.json()) as Json;
      assert.equal(response.status, 400);
      assert.equal(error.param, param);
      assert.match(error.message, message);
    }
  });

  it("at a path that is not there is answered in the vendor's shape, with an id to quote", async () => {
    const openai = await open.post("/openai/v1/audio/speech", {});
    assert.equal(openai.status, 404);
    assert.equal(((await openai.json()) as Json).error.type, "invalid_request_error");
    assert.match(openai.headers.get("x-request-id") ?? "", /^req_/);
    const anthropic = await open.post("/anthropic/v1/nothing", {});
    assert.deepInclude((await anthropic.json()) as Json, { type: "error" });
  });

  it("has an id in every answer, the caller's own where it sent one", async () => {
    const own = await open.post(path, { ...ask("x"), stream: true }, { "x-request-id": "mine-17" });
    assert.equal(own.headers.get("x-request-id"), "mine-17");
    await own.text();
    assert.match((await open.post(path, {})).headers.get("x-request-id") ?? "", /^req_/);
  });

  it("names agents as vendors name models, and by aliases", async () => {
    for (const model of ["gpt-4o", "openai/gpt-4o", "vendor/x@2026-01-01:free"]) {
      const response = await open.post(path, ask("x", model));
      assert.equal(response.status, 200, await response.clone().text());
      assert.equal(((await response.json()) as Json).model, model);
      assert.equal(((await (await fetch(`${open.url}/openai/v1/models/${model}`)).json()) as Json).id, model);
    }
    const missing = (await (await open.post(path, ask("x", "gpt-5"))).json()) as Json;
    assert.equal(missing.error.code, "model_not_found");
    const listed = (await (await fetch(`${open.url}/openai/v1/models`)).json()) as Json;
    assert.includeMembers(
      listed.data.map(({ id }: Json) => id),
      ["agent", "gpt-4o", "openai/gpt-4o"],
    );
  });
});
