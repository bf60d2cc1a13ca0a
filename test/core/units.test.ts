import { expect } from "chai";
import { z } from "zod";
import { Duration, Size } from "../../src/core/values/units.ts";

describe("units", () => {
  it("a duration reads as milliseconds", () => {
    const read = ["250ms", "30s", "5m", "2h", "7d", "1.5s", 40, "0", "40"].map((value) => Duration.parse(value));
    expect(read).to.deep.equal([250, 30_000, 300_000, 7_200_000, 604_800_000, 1_500, 40, 0, 40]);
  });

  it("a size reads as bytes, in powers of 1000 or 1024", () => {
    const read = ["512B", "64KiB", "4MiB", "1GB", 7, "7"].map((value) => Size.parse(value));
    expect(read).to.deep.equal([512, 65_536, 4_194_304, 1_000_000_000, 7, 7]);
  });

  it("anything else is refused with an example of what is expected", () => {
    for (const value of ["30 s", "s", "", "-1s", "1w", -1, true, `${"9".repeat(400)}d`]) {
      const result = Duration.safeParse(value);
      expect(result.success).to.equal(false);
      expect(result.error?.issues[0]?.message).to.contain('"30s"');
    }
    expect(Size.safeParse("64kib").success).to.equal(false);
  });

  it("has a JSON Schema of what is written, for editors", () => {
    expect(z.toJSONSchema(Duration, { io: "input" })).to.have.property("anyOf");
  });
});
