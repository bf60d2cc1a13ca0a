import { expect } from "chai";
import { Clock, systemClock } from "../../../src/core/ports/clock.ts";
import { silentLog } from "../../../src/core/ports/log.ts";
import { noTelemetry } from "../../../src/core/ports/telemetry.ts";
import type { RunEvent, TerminalEvent } from "../../../src/core/run/events.ts";
import { RunTimes } from "../../../src/core/run/run-times.ts";
import { timingOf } from "../../../src/core/run/timing.ts";
import { provide } from "../../../src/core/values/token.ts";
import { type Host, openHost } from "../../../src/host/open.ts";
import { testFolder } from "../folder.ts";

const config = `
providers: { demo: { type: simulator, pace: 0 } }
agents: { good: { model: demo/m }, bad: { model: "demo/m!status=400" } }
journal: { type: memory }
channels: {}
`;

describe("the timing in a run's last event", () => {
  const folder = testFolder();
  let host: Host | undefined;
  afterEach(() => host?.close());

  it("is what the events say, to the millisecond, however long it takes to write it", async () => {
    // A machine so busy that every look at the clock takes 7 ms.
    let looks = 0;
    const busy: Clock = { ...systemClock, monotonic: () => systemClock.monotonic() + 7 * looks++ };
    host = await openHost({
      configFile: folder.write({ "venturi.yaml": config }),
      env: {},
      log: silentLog,
      telemetry: noTelemetry,
      replace: [provide(Clock, busy)],
    });
    for (const agent of ["good", "bad"]) {
      const { run } = await host.runs.start({ agent, input: { text: "hi" } });
      const events: RunEvent[] = [];
      for await (const batch of host.runs.follow(run)) events.push(...batch);
      const last = events.at(-1) as TerminalEvent; // the stream ends with it
      const folded = timingOf(RunTimes.of(events));
      expect(last.timing, agent).to.deep.equal(folded);
      const { digest } = await host.runs.get(run);
      expect(digest?.ms).to.equal(Math.round(Object.values(folded).reduce((sum, ms) => sum + ms, 0)));
    }
  });
});
