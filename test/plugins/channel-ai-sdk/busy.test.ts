import { expect } from "chai";
import { serviceOf } from "../channel-time/world.ts";

describe("a chat of a busy agent", () => {
  it("is resumed although hundreds of runs began after it", async () => {
    const service = await serviceOf("channels: { http: {}, ai-sdk: {} }\n");
    const post = (path: string, body: object, headers: Record<string, string> = {}) =>
      fetch(service.url + path, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      });
    const message = (text: string) => [{ id: "m", role: "user", parts: [{ type: "text", text }] }];
    // Its runs wait, so that all are under way.
    await post("/v1/agents/assistant/pause", {});
    const chat = await post("/ai-sdk/assistant", { id: "c1", messages: message("What is 17 * 23?") });
    for (let count = 0; count < 201; count++) {
      const other = await post("/v1/runs", { agent: "assistant", input: "hello" }, { prefer: "respond-async" });
      expect(other.status).to.equal(202);
      await other.text();
    }
    const resumed = await fetch(`${service.url}/ai-sdk/assistant/c1/stream`);
    expect(resumed.status).to.equal(200);
    const none = await fetch(`${service.url}/ai-sdk/assistant/c2/stream`);
    expect(none.status).to.equal(204);
    await post("/v1/agents/assistant/resume", {});
    expect(resumed.headers.get("x-venturi-run")).to.equal(chat.headers.get("x-venturi-run"));
    expect(await resumed.text()).to.equal(await chat.text());
    await service.close();
  });
});
