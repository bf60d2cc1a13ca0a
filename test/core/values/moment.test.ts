import { expect } from "chai";
import { momentIn } from "../../../src/core/values/moment.ts";

describe("a written moment", () => {
  const zone = process.env.TZ;
  afterEach(() => {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  });

  it("is a day or a time, in UTC unless it has an offset, wherever the process is", () => {
    const nine = Date.UTC(2026, 10, 17, 9, 30);
    for (const place of ["UTC", "America/New_York", "Asia/Kolkata"]) {
      process.env.TZ = place;
      expect(momentIn("2026-11-17"), place).to.equal(Date.UTC(2026, 10, 17));
      for (const text of ["2026-11-17T09:30", "2026-11-17 09:30:00", "2026-11-17t09:30:00.000z"])
        expect(momentIn(text), `${text} in ${place}`).to.equal(nine);
      for (const text of ["2026-11-17T10:30+01:00", "2026-11-17T10:30:00+0100", " 2026-11-17T04:30-05:00 "])
        expect(momentIn(text), `${text} in ${place}`).to.equal(nine);
    }
  });

  it("is none when the calendar does not have it, or when `Date.parse` would guess", () => {
    expect(momentIn("2028-02-29")).to.equal(Date.UTC(2028, 1, 29));
    const wrong = [
      "2026-02-29",
      "2026-02-30",
      "2026-04-31T08:00Z",
      "2026-13-01",
      "2026-11-17T25:00",
      "2026-11-17T09:61Z",
    ];
    for (const text of [...wrong, "foo 3", "5", "", "yesterday", "2026", "17 Nov 2026", "2026-11-17T"])
      expect(momentIn(text), text).to.equal(undefined);
  });
});
