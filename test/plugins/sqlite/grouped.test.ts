import { expect } from "chai";
import { Grouped } from "../../../plugins/sqlite/grouped.ts";

const small = () => 1;

describe("sqlite, what is asked at the same time", () => {
  it("is grouped while one request is in flight, and each gets its own answer", async () => {
    const groups: number[][] = [];
    const grouped = new Grouped(async (items: number[]) => {
      groups.push(items);
      await new Promise((resolve) => setImmediate(resolve));
      return items.map((item) => item * 10);
    }, small);
    const answers = await Promise.all([1, 2, 3].map((item) => grouped.ask(item)));
    expect(answers).to.deep.equal([10, 20, 30]);
    expect(groups).to.deep.equal([[1], [2, 3]]);
    expect(await grouped.ask(4)).to.equal(40);
  });

  it("fails for those of the group alone, and the next are asked", async () => {
    const grouped = new Grouped(async (items: number[]) => {
      if (items.includes(1)) throw new Error("the engine is down");
      return items;
    }, small);
    const settled = await Promise.allSettled([1, 2, 3].map((item) => grouped.ask(item)));
    expect(settled.map(({ status }) => status)).to.deep.equal(["rejected", "fulfilled", "fulfilled"]);
  });

  it("goes alone when it is large, by turns with what is small", async () => {
    const groups: string[][] = [];
    const ask = async (items: string[]) => {
      groups.push(items);
      await new Promise((resolve) => setImmediate(resolve));
      return items;
    };
    const grouped = new Grouped(ask, (item: string) => (item.startsWith("L") ? 1e6 : 1));
    const first = grouped.ask("a");
    const rest = ["L1", "L2", "b", "L3", "c"].map((item) => grouped.ask(item));
    await first;
    const late = grouped.ask("d");
    await Promise.all([...rest, late]);
    expect(groups).to.deep.equal([["a"], ["L1"], ["b", "c", "d"], ["L2"], ["L3"]]);
  });
});
