import { expect } from "chai";
import { Lanes } from "../../../plugins/channel-time/lanes.ts";
import type { Service } from "../../../src/host/service.ts";
import { venturi } from "../../cli/venturi.ts";
import { TestReceiver } from "./receiver.ts";
import { serviceOf, until } from "./world.ts";

describe("venturi schedules and venturi webhooks", () => {
  let receiver: TestReceiver;
  let service: Service & { close(): Promise<void> };
  before(async () => {
    receiver = new TestReceiver();
    const url = await receiver.open();
    receiver.answer = () => 410;
    service = await serviceOf(`schedules: { nightly: { cron: "0 3 * * *", agent: assistant, input: Tidy up. } }
webhooks: { crm: { url: "${url}?token=hidden", secret: a-secret-of-the-receiver } }`);
  });
  after(async () => {
    await service.close();
    await receiver.close();
  });
  const here = (...words: string[]) => venturi([...words, "--url", service.url]);

  it("list schedules with their next time, and refuse to remove one of the configuration", async () => {
    const listed = await here("schedules");
    expect(listed.out).to.match(
      /^nightly {2}assistant {2}0 3 \* \* \* UTC {2}next \d{4}-\S+T03:00:00.000Z {2}\(never yet\)\n$/,
    );
    const refused = await here("schedules", "nightly", "--remove");
    expect([refused.exit, refused.err]).to.satisfy(
      ([exit, err]: [number, string]) => exit === 1 && err.includes("in the configuration"),
    );
  });

  it("list what was given up without a token of the URL, and send it again", async () => {
    const { run } = await service.host.runs.start({ agent: "assistant", input: { text: "Hello." } });
    const lanes = new Lanes(service.host.journal.keyValues ?? expect.fail());
    await until(async () => (await lanes.letters("crm")).length > 0);
    const listed = await here("webhooks");
    expect(listed.out).to.match(/^crm {2}http:\/\/127\.0\.0\.1:\d+ {2}run\.finished, run\.failed/);
    expect(listed.out).not.to.contain("hidden");
    const dead = await here("webhooks", "crm");
    expect(dead.out).to.contain(run).and.contain("status 410");
    receiver.answer = () => 200;
    expect((await here("webhooks", "crm", "--replay")).out).to.equal("1 sent again\n");
    await until(() => receiver.taken.length === 1);
    expect((await here("webhooks", "crm")).err).to.equal("no dead letters\n");
  });
});
