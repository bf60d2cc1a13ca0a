import { expect } from "chai";
import { momentWithOffset } from "../../../plugins/channel-time/moment.ts";
import { occurrencesOf, timingProblems } from "../../../plugins/channel-time/occurrences.ts";

const hour = 3_600_000;

async function times(cron: string, timezone: string, from: string, count: number): Promise<string[]> {
  const { next } = await occurrencesOf({ cron, timezone });
  const found: string[] = [];
  let at: number | undefined = Date.parse(from);
  while (found.length < count) {
    at = next(at);
    if (at === undefined) break;
    found.push(new Date(at).toISOString().replace(":00.000Z", "Z"));
  }
  return found;
}

describe("the times of a schedule", () => {
  it("in a skipped hour come once, at its end", async () => {
    expect(await times("30 2 * * *", "Europe/Berlin", "2026-03-27T12:00:00Z", 3)).to.deep.equal([
      "2026-03-28T01:30Z",
      "2026-03-29T01:00Z",
      "2026-03-30T00:30Z",
    ]);
    expect(await times("0 * * * *", "Europe/Berlin", "2026-03-28T23:30:00Z", 4)).to.deep.equal([
      "2026-03-29T00:00Z",
      "2026-03-29T01:00Z",
      "2026-03-29T02:00Z",
      "2026-03-29T03:00Z",
    ]);
  });

  it("in a repeated hour come once if daily, and every hour if hourly", async () => {
    expect(await times("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2)).to.deep.equal([
      "2026-10-25T00:30Z",
      "2026-10-26T01:30Z",
    ]);
    expect(await times("0 * * * *", "Europe/Berlin", "2026-10-24T23:30:00Z", 4)).to.deep.equal([
      "2026-10-25T00:00Z",
      "2026-10-25T01:00Z",
      "2026-10-25T02:00Z",
      "2026-10-25T03:00Z",
    ]);
  });

  it("know leap days and the last second of a year", async () => {
    expect(await times("0 0 29 2 *", "UTC", "2026-03-01T00:00:00Z", 2)).to.deep.equal([
      "2028-02-29T00:00Z",
      "2032-02-29T00:00Z",
    ]);
    expect(await times("59 59 23 31 12 *", "UTC", "2026-12-31T23:59:58Z", 2)).to.deep.equal([
      "2026-12-31T23:59:59.000Z",
      "2027-12-31T23:59:59.000Z",
    ]);
    expect(await times("0 0 1 1 *", "Pacific/Kiritimati", "2026-12-31T00:00:00Z", 1)).to.deep.equal([
      "2026-12-31T10:00Z",
    ]);
  });

  it("are the same from wherever they are asked, which replicas rely on", async () => {
    const zones = [
      "UTC",
      "Europe/Berlin",
      "America/St_Johns",
      "Australia/Lord_Howe",
      "America/Santiago",
      "Africa/Casablanca",
    ];
    const patterns = ["30 2 * * *", "*/20 * * * *", "15,45 1-3 * * *", "0 0 * * 1-5", "5 */3 28-31 * *"];
    let seed = 17;
    const random = () => {
      seed = (seed * 16_807) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    for (const timezone of zones) {
      for (const cron of patterns) {
        const { next } = await occurrencesOf({ cron, timezone });
        for (const start of [
          Date.UTC(2026, 2, 27),
          Date.UTC(2026, 9, 2),
          Date.UTC(2026, 9, 23),
          Date.UTC(2026, 3, 3),
        ]) {
          const all: number[] = [];
          for (let at = next(start); at !== undefined && at < start + 72 * hour; at = next(at)) all.push(at);
          for (let probe = 0; probe < 20; probe++) {
            const from = start + Math.floor(random() * 72 * hour);
            const expected = all.find((time) => time > from);
            if (expected !== undefined)
              expect(next(from), `${cron} ${timezone} ${new Date(from).toISOString()}`).to.equal(expected);
          }
        }
      }
    }
  });

  it("for a single time come once", async () => {
    const { next } = await occurrencesOf({ at: 5_000, timezone: "UTC" });
    expect([next(0), next(4_999), next(5_000)]).to.deep.equal([5_000, 5_000, undefined]);
  });

  it("are refused when there are none, with the reason", async () => {
    const said = async (cron: string, timezone = "UTC") => (await timingProblems({ cron, timezone }))[0];
    expect((await said("61 * * * *"))?.message).to.contain("Invalid value for minute: 61");
    expect((await said("* * *"))?.key).to.equal("cron");
    expect((await said("0 0 30 2 *"))?.message).to.contain("never due");
    expect((await said("0 3 * * *", "Mars/Phobos"))?.key).to.equal("timezone");
    expect((await said("0 3 * * *", "+01:00"))?.key).to.equal("timezone");
    expect(await said("0 3 * * MON-FRI", "Europe/Berlin")).to.equal(undefined);
  });

  it("given as a moment need an offset and a day of the calendar; a leap second is refused with what to write", () => {
    expect(momentWithOffset("2027-01-01T09:00:00+01:00")).to.equal(Date.UTC(2027, 0, 1, 8));
    expect(momentWithOffset("2016-12-31T23:59:60Z")).to.contain("second 59");
    expect(momentWithOffset("2027-02-29T00:00:00Z")).to.contain("calendar");
    expect(momentWithOffset("2028-02-29T00:00Z")).to.equal(Date.UTC(2028, 1, 29));
    expect(momentWithOffset("2027-01-01T09:00:00")).to.contain("offset");
  });
});
