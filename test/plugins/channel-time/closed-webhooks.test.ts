import { expect } from "chai";
import { Receiver } from "../../../plugins/channel-time/receiver.ts";
import { WebhookOptions } from "../../../plugins/channel-time/webhook-options.ts";
import { systemClock } from "../../../src/core/ports/clock.ts";

describe("a webhook of some tenants and agents", () => {
  const options = WebhookOptions.parse({
    url: "https://crm.example.com/in",
    secret: "0123456789abcdef",
    tenants: ["acme"],
    agents: ["a"],
  });
  let sent: string[];
  const receiver = () => {
    sent = [];
    const fetch = async (url: string | URL) => {
      sent.push(String(url));
      return new Response();
    };
    return new Receiver(options, systemClock, () => ({ fetch, close: async () => {} }));
  };
  const message = { id: "msg_1", place: 1, type: "run.finished", tenant: "acme", agent: "a", body: "{}" } as const;
  const elsewhere = { url: "https://elsewhere.example.com/" };

  it("sends nothing of others, also where a client named it for a run", async () => {
    for (const other of [{ tenant: "umbrella" }, { agent: "b" }]) {
      const delivered = await receiver().deliver({ ...message, ...other }, elsewhere);
      expect(delivered, JSON.stringify(other)).to.include({ kind: "failed", final: true });
      expect(sent).to.deep.equal([]);
    }
    expect(await receiver().deliver(message, elsewhere)).to.deep.equal({ kind: "ok" });
    expect(sent).to.deep.equal([elsewhere.url]);
  });
});
