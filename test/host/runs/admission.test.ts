import { expect } from "chai";
import type { VenturiError } from "../../../src/core/errors/errors.ts";
import { Admission } from "../../../src/host/access/admission.ts";
import { VirtualClock } from "../../../src/testing/clock.ts";

describe("admission", () => {
  const open = (options: { activeRuns?: number; queue?: number; queueWait?: number } = {}) => {
    const clock = new VirtualClock();
    return { clock, admission: new Admission({ activeRuns: 1, queue: 1, queueWait: 100, clock, ...options }) };
  };
  const refusal = (promise: Promise<unknown>): Promise<VenturiError> =>
    promise.then(
      () => expect.fail("was admitted"),
      (thrown) => thrown as VenturiError,
    );
  const someone = { id: "someone" };

  it("gives the slot of an ended run to the first in the queue", async () => {
    const { admission } = open();
    const first = await admission.reserve(someone);
    admission.begin("r1");
    first.bind("r1");
    const second = admission.reserve(someone);
    expect((await refusal(admission.reserve(someone))).code).to.equal("unavailable");
    admission.end("r1");
    (await second).release();
    expect(admission.active).to.equal(0);
  });

  it("refuses a start that waited too long, with a retry time", async () => {
    const { admission, clock } = open();
    await admission.reserve(someone);
    const second = refusal(admission.reserve(someone));
    await clock.advance(100);
    const error = await second;
    expect(error.code).to.equal("unavailable");
    expect(error.details).to.have.property("retryAfterMs");
  });

  it("frees the slot of a run that does not execute here", async () => {
    const { admission } = open();
    (await admission.reserve(someone)).bind("elsewhere");
    expect(admission.active).to.equal(0);
  });

  it("counts a run once when it began before its place was bound to it", async () => {
    const { admission } = open({ activeRuns: 2 });
    const place = await admission.reserve(someone);
    admission.begin("r1");
    const second = admission.reserve(someone);
    place.bind("r1");
    await second;
    expect(admission.active).to.equal(2);
  });

  it("counts runs that others started", async () => {
    const { admission } = open({ queue: 0 });
    admission.begin("claimed");
    expect((await refusal(admission.reserve(someone))).code).to.equal("unavailable");
    admission.end("claimed");
    await admission.reserve(someone);
  });

  it("enforces a key's run limit without delaying others", async () => {
    const { admission } = open({ activeRuns: 3 });
    const key = { id: "key", concurrentRuns: 1 };
    const place = await admission.reserve(key);
    expect((await refusal(admission.reserve(key))).code).to.equal("rate_limited");
    await admission.reserve(someone);
    place.release();
    await admission.reserve(key);
  });

  it("refuses new and queued starts once it is closed", async () => {
    const { admission } = open();
    const place = await admission.reserve(someone);
    admission.begin("r1");
    place.bind("r1");
    const waiting = refusal(admission.reserve(someone));
    admission.close();
    expect((await waiting).code).to.equal("shutting_down");
    expect((await refusal(admission.reserve(someone))).code).to.equal("shutting_down");
  });
});
