import { expect } from "chai";
import clock from "../../../plugins/clock/index.ts";
import { callTool, testPluginContext, toolContract, toolNamed, VirtualClock } from "../../../src/testing.ts";

const create = (options = {}, now = Date.UTC(2026, 2, 28, 11, 30, 15)) =>
  clock.create(clock.options.parse(options), testPluginContext({ name: "clock", clock: new VirtualClock(now) }));

const ask = async (input: Record<string, unknown>, options = {}) => {
  const { output } = await callTool(toolNamed(await create(options), "clock"), input);
  return output as { iso: string; human: string; epochMs: number; timeZone: string; until?: { human: string } };
};

toolContract("clock", {
  create: () => create(),
  samples: [
    { tool: "clock", input: {} },
    { tool: "clock", input: { timeZone: "Asia/Tokyo", add: { days: 3 } } },
  ],
  misfits: [
    { tool: "clock", input: { zone: "UTC" } },
    { tool: "clock", input: { add: { days: 0.5 } } },
  ],
  failures: [
    { tool: "clock", input: { timeZone: "Mars/Olympus" } },
    { tool: "clock", input: { at: "tomorrow" } },
    { tool: "clock", input: { at: "2026-13-01" } },
    { tool: "clock", input: { at: "2026-02-30", add: { days: 1 } } },
    { tool: "clock", input: { add: { years: 100_000 }, at: "9999-01-01T00:00:00Z" } },
  ],
});

describe("clock", () => {
  it("tells the time in the zone asked for, as ISO and for people", async () => {
    const told = await ask({ timeZone: "Europe/Berlin" });
    expect(told.iso).to.equal("2026-03-28T12:30:15+01:00");
    expect(told.human).to.contain("Saturday, 28 March 2026").and.to.contain("12:30:15");
    expect(told.epochMs).to.equal(Date.UTC(2026, 2, 28, 11, 30, 15));
  });

  it("uses the configured zone when none is asked for", async () => {
    expect((await ask({}, { timeZone: "Asia/Kolkata" })).iso).to.equal("2026-03-28T17:00:15+05:30");
  });

  it("a day over a clock change keeps the hour, 24 hours do not", async () => {
    const zone = { timeZone: "Europe/Berlin" };
    expect((await ask({ ...zone, add: { days: 1 } })).iso).to.equal("2026-03-29T12:30:15+02:00");
    expect((await ask({ ...zone, add: { hours: 24 } })).iso).to.equal("2026-03-29T13:30:15+02:00");
  });

  it("a wall time without an offset is read in the zone, one that a clock change skips moves past it", async () => {
    const zone = { timeZone: "America/New_York" };
    expect((await ask({ ...zone, at: "2026-07-04T09:00" })).iso).to.equal("2026-07-04T09:00:00-04:00");
    expect((await ask({ ...zone, at: "2026-03-08T02:30" })).iso).to.equal("2026-03-08T03:30:00-04:00");
    expect((await ask({ ...zone, at: "2026-01-04" })).iso).to.equal("2026-01-04T00:00:00-05:00");
  });

  it("a month after 31 January is the last of February, a year after 29 February the 28th", async () => {
    expect((await ask({ at: "2026-01-31T10:00Z", add: { months: 1 } })).iso).to.equal("2026-02-28T10:00:00Z");
    expect((await ask({ at: "2024-02-29", add: { years: 1 } })).iso).to.equal("2025-02-28T00:00:00Z");
    expect((await ask({ at: "2026-01-31", add: { months: -2, weeks: -1 } })).iso).to.equal("2025-11-23T00:00:00Z");
  });

  it("adds days and hours together, and reads an offset with or without its colon", async () => {
    const told = await ask({ at: "2026-01-31T10:00Z", add: { days: 1, hours: 2, minutes: 3, seconds: 4 } });
    expect(told.iso).to.equal("2026-02-01T12:03:04Z");
    expect((await ask({ at: "2026-01-31T10:00Z", add: { months: -1, hours: -2 } })).iso).to.equal(
      "2025-12-31T08:00:00Z",
    );
    for (const at of ["2026-01-31T10:00+0100", "2026-01-31 10:00+01:00", "2026-01-31t09:00z"])
      expect((await ask({ at })).iso, at).to.equal("2026-01-31T09:00:00Z");
    for (const at of ["x2026-01-31", "2026-01-31T10:00+01:00x", "2026-01-31T10:00:00.1234567890Z"])
      expect(await ask({ at }).catch(({ code }) => code), at).to.equal("tool_failed");
  });

  it("measures the distance between two moments", async () => {
    const told = await ask({ at: "2026-03-01T00:00:00Z", until: "2026-03-03T04:05:06Z" });
    expect(told.until).to.deep.equal({ seconds: 187_506, human: "2 days, 4 hours, 5 minutes, 6 seconds" });
    expect((await ask({ at: "2026-03-02", until: "2026-03-01" })).until?.human).to.equal("1 days ago");
  });

  it("refuses a zone in the config that does not exist", () => {
    expect(clock.options.safeParse({ timeZone: "Berlin" }).success).to.equal(false);
  });
});
