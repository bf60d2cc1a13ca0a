import { expect } from "chai";
import fc from "fast-check";
import type { Charge } from "../../../src/core/ports/held.ts";
import { HeldMemory } from "../../../src/host/memory/held-memory.ts";

const total = 1_600;
const refused = (charge: () => unknown): boolean => {
  try {
    charge();
    return false;
  } catch (thrown) {
    expect(thrown).to.include({ code: "unavailable" });
    return true;
  }
};

describe("the account of held bytes", () => {
  it("refuses nobody below half of the total, and then gives each tenant its share", () => {
    const memory = new HeldMemory(total);
    memory.of("a").charge(800, "body");
    expect(refused(() => memory.of("a").charge(1, "body"))).to.equal(true);
    // A third: of a, b and one who may come.
    expect(memory.shareOf("b")).to.equal(total / 3);
    memory.of("b").charge(533, "body");
    expect(refused(() => memory.of("b").charge(1, "body"))).to.equal(true);
    memory.of("c").charge(400, "body");
  });

  it("shares out what small tenants leave", () => {
    const memory = new HeldMemory(total);
    for (let tenant = 0; tenant < 100; tenant++) memory.of(`small ${tenant}`).charge(1, "run");
    expect(memory.shareOf("large")).to.equal((total - 100) / 2);
  });

  it("lets what is alone in memory grow, however little there is", () => {
    const memory = new HeldMemory(10);
    const body = memory.of("a").charge(20, "body");
    body.grow(100);
    expect(memory.held).to.equal(120);
    expect(refused(() => memory.of("a").charge(1, "body"))).to.equal(true);
    expect(refused(() => memory.of("b").charge(4, "body"))).to.equal(true);
    expect(refused(() => memory.of("b").charge(3, "body"))).to.equal(false);
  });

  it("releases shared bytes with their last handle, and each handle once", () => {
    const memory = new HeldMemory(total);
    const body = memory.of("a").charge(100, "body");
    const run = body.share();
    body.release();
    body.release();
    body.grow(50);
    body.shrink(50);
    expect([memory.held, body.bytes, run.bytes]).to.deep.equal([100, 0, 100]);
    run.add(900);
    expect(memory.held).to.equal(1_000);
    run.release();
    expect(memory.held).to.equal(0);
    expect([...memory.tenants]).to.deep.equal([]);
  });

  it("names only the tenant's own figures when it refuses", () => {
    const memory = new HeldMemory(total);
    memory.of("secret").charge(800, "body");
    expect(() => memory.of("b").charge(total, "reply")).to.throw(/^memory is short: this reply needs/);
    expect(() => memory.of("b").charge(total, "reply")).not.to.throw(/secret|800/);
  });

  it("never refuses a tenant below its share, adds up, and is empty after quiet", () => {
    const steps = fc.array(
      fc.record({
        tenant: fc.nat(5),
        act: fc.constantFrom("charge", "hold", "grow", "add", "shrink", "share", "release"),
        bytes: fc.nat(700),
        which: fc.nat(20),
      }),
      { maxLength: 120 },
    );
    fc.assert(
      fc.property(steps, (all) => {
        const memory = new HeldMemory(total);
        const open: { tenant: string; charge: Charge; group: number }[] = [];
        let groups = 0;
        const expected = () => {
          const sizes = new Map<number, number>();
          for (const { charge, group } of open) sizes.set(group, charge.bytes);
          return [...sizes.values()].reduce((sum, bytes) => sum + bytes, 0);
        };
        for (const { tenant, act, bytes, which } of all) {
          const name = `t${tenant}`;
          const one = open[which % Math.max(1, open.length)];
          const own = memory.tenants.get(act === "grow" && one ? one.tenant : name) ?? 0;
          const belowShare = own + bytes <= memory.shareOf(act === "grow" && one ? one.tenant : name);
          if (act === "charge") {
            const no = refused(() =>
              open.push({ tenant: name, charge: memory.of(name).charge(bytes, "body"), group: groups++ }),
            );
            if (no) expect(belowShare).to.equal(false);
          } else if (act === "hold")
            open.push({ tenant: name, charge: memory.of(name).hold(bytes, "run"), group: groups++ });
          else if (one === undefined) continue;
          else if (act === "grow") {
            if (refused(() => one.charge.grow(bytes))) expect(belowShare).to.equal(false);
          } else if (act === "add") one.charge.add(bytes);
          else if (act === "shrink") one.charge.shrink(bytes);
          else if (act === "share") open.push({ ...one, charge: one.charge.share() });
          else {
            one.charge.release();
            open.splice(open.indexOf(one), 1);
          }
          expect(memory.held).to.equal(expected());
          expect([...memory.tenants.values()].reduce((sum, each) => sum + each, 0)).to.equal(memory.held);
        }
        for (const { charge } of open) charge.release();
        expect(memory.held).to.equal(0);
        expect(memory.tenants.size).to.equal(0);
      }),
      { seed: 7, numRuns: 300 },
    );
  });
});
