import { readFileSync } from "node:fs";
import { expect } from "chai";
import { Place } from "./place.ts";

describe("the budget of an eval", () => {
  const place = new Place(3);
  before(() => {
    place.write("venturi.yaml", readFileSync(place.file("venturi.yaml"), "utf8").replace(/^prices:.*\n/m, ""));
    place.write("set.yaml", "agent: buyer\nitems: [{ input: order 0 }, { input: order 1 }, { input: order 2 }]\n");
  });
  after(() => place.remove());

  it("is refused for a model whose price is not known, after one run instead of all", async () => {
    const words = ["eval", "set.yaml", "--concurrency", "1"];
    const { code, out, err } = await place.venturi(...words, "--budget", "5");
    expect([code, out], err).to.deep.equal([2, ""]);
    expect(err).to.match(/eval\.run: invalid_input: what run_\w+ cost is not known, so no budget in USD can hold/);
    expect(place.orders).to.equal(1);
    expect((await place.venturi(...words)).code).to.equal(0);
  });
});
