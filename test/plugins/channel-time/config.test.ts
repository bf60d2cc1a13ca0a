import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { loadConfig } from "../../../src/host/config/load.ts";

const start = `version: 1
providers: { demo: { type: simulator } }
agents: { assistant: { model: demo/small } }
journal: { type: memory }
`;

describe("the configuration of schedules, webhooks and hooks", () => {
  const folder = mkdtempSync(join(tmpdir(), "venturi-time-config-"));
  after(() => rmSync(folder, { recursive: true, force: true }));
  const load = async (yaml: string) => {
    const file = join(folder, "venturi.yaml");
    writeFileSync(file, start + yaml);
    return await loadConfig({ file, env: {} });
  };
  const complaint = async (yaml: string) => {
    const error = await load(yaml).catch((thrown: Error) => thrown);
    return error instanceof Error ? error.message.replaceAll(`${folder}/venturi.yaml:`, "") : "accepted";
  };

  it("is put into the channel time, which is not there without", async () => {
    expect(Object.keys((await load("")).channels)).to.deep.equal(["http", "openai", "websocket"]);
    const { channels } = await load("schedules: { a: { cron: '0 3 * * *', agent: assistant, input: Hi. } }\n");
    expect(Object.keys(channels)).to.deep.equal(["http", "openai", "websocket", "time"]);
    const later = await load("tools: { remind: { type: later } }\nchannels: { http: }\n");
    expect(Object.keys(later.channels)).to.deep.equal(["http", "time"]);
  });

  it("says what is wrong with line and column, under the name it has in the file", async () => {
    const schedule = (text: string) => `schedules:\n  nightly:\n    agent: assistant\n    input: Hi.\n    ${text}\n`;
    expect(await complaint(schedule('cron: "0 25 * * *"'))).to.match(
      /^9:11 schedules\.nightly\.cron: "0 25 .*Invalid value for hour: 25/,
    );
    expect(await complaint(schedule('cron: "0 3 * * *"\n    timezone: Mars/Phobos'))).to.match(
      /^10:15 schedules\.nightly\.timezone: .*Mars/,
    );
    expect(await complaint(schedule("at: 2027-02-30T00:00:00Z"))).to.match(/^9:9 schedules\.nightly\.at: there is no/);
    expect(await complaint(schedule('cron: "0 3 * * *"\n    in: 5m'))).to.match(
      /^\d+:\d+ schedules\.nightly: write one of/,
    );
    expect(await complaint(schedule('cron: "0 3 * * *"\n    overlap: wait'))).to.match(
      /^10:14 schedules\.nightly\.overlap/,
    );
    expect(await complaint(schedule('cron: "0 3 * * *"').replace("assistant", "asistant"))).to.match(
      /^7:12 schedules\.nightly\.agent: .*did you mean/i,
    );
    const webhook = (text: string) => `webhooks:\n  crm:\n    secret: 0123456789abcdef\n    ${text}\n`;
    expect(await complaint(webhook("url: crm.example.com"))).to.match(/^8:10 webhooks\.crm\.url: expected a URL/);
    expect(await complaint(webhook("url: https://a:b@crm.example.com"))).to.match(/^8:10 webhooks\.crm\.url/);
    expect(await complaint(webhook("url: https://x.example\n    events: [run.ended]"))).to.match(
      /^9:14 webhooks\.crm\.events/,
    );
    expect(await complaint("webhooks:\n  crm: { url: https://x.example, secret: short }\n")).to.match(
      /^6:\d+ webhooks\.crm\.secret/,
    );
    const hook = 'hooks:\n  gh: { from: github, secret: s0123456789, agent: assistant, input: "{{env.KEY}}" }\n';
    expect(await complaint(hook)).to.match(/^6:\d+ hooks\.gh\.input: \{\{env\.KEY\}\}/);
  });
});
