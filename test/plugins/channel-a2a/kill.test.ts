import { once } from "node:events";
import { expect } from "chai";
import { testFolder } from "../../host/folder.ts";
import { configuration, pay } from "../channel-mcp/service.ts";
import { journals } from "../postgres/shared-journals.ts";
import { answerOf, connect, readStream, replica, say, sending, settings, stateOf, taskIn } from "./service.ts";

describe("channel-a2a, whole processes", function () {
  this.timeout(180_000);
  const folder = testFolder();

  for (const [engine, open] of Object.entries(journals))
    it(`${engine}: kill -9 in the middle of a task: the next poll and a new subscription, at another replica, go on`, async () => {
      await using journal = await open();
      const file = folder.write({
        "venturi.yaml": configuration({ channels: { a2a: {} }, journal: journal.entry }),
        "pay.mjs": pay,
      });
      const [one, two] = await Promise.all([replica(file), replica(file)]);
      try {
        const first = await connect(one.url, "slow");
        const { id } = taskIn(await first.sendMessage(sending(say("x"), settings({ returnImmediately: true }))));
        one.child.kill("SIGKILL");
        await once(one.child, "exit");
        const second = await connect(two.url, "slow");
        expect(stateOf(await second.getTask({ tenant: "", id }))).to.be.oneOf([
          "TASK_STATE_WORKING",
          "TASK_STATE_SUBMITTED",
        ]);
        const { text, states } = await readStream(second.resubscribeTask({ tenant: "", id }));
        expect(states.at(-1)).to.equal("TASK_STATE_COMPLETED");
        expect(text).to.equal("one two three four five six seven eight nine ten");
        const task = await second.getTask({ tenant: "", id });
        expect([stateOf(task), answerOf(task)]).to.deep.equal(["TASK_STATE_COMPLETED", text]);
      } finally {
        for (const { child } of [one, two]) child.kill("SIGKILL");
      }
    });
});
