import { expect } from "chai";
import { overriding } from "../../src/core/values/overriding.ts";

class Counter {
  #count = 0;
  readonly step: number;
  constructor(step: number) {
    this.step = step;
  }
  get count(): number {
    return this.#count;
  }
  add(): number {
    this.#count += this.step;
    return this.#count;
  }
  clear(): void {
    this.#count = 0;
  }
}

describe("an object with some members replaced", () => {
  it("has the target's methods, private fields and all, and its values as they are now", () => {
    const counter = new Counter(2);
    const seen: string[] = [];
    const wrapped = overriding(counter, {
      clear: () => {
        seen.push("clear");
        counter.clear();
      },
    });
    const { add } = wrapped;
    expect([add(), wrapped.count, wrapped.step]).to.deep.equal([2, 2, 2]);
    wrapped.clear();
    expect([wrapped.count, seen]).to.deep.equal([0, ["clear"]]);
  });

  it("has what a subclass overrides and what it inherits, and is spread like a plain object", () => {
    class Twice extends Counter {
      override add(): number {
        super.add();
        return super.add();
      }
    }
    const wrapped = overriding(new Twice(1), {});
    expect(wrapped.add()).to.equal(2);
    expect({ ...wrapped }).to.deep.include({ count: 2, step: 1 });
    expect(Object.getPrototypeOf(wrapped)).to.equal(Object.prototype);
  });

  it("leaves a schema that is a function as it is", () => {
    const schema = Object.assign(() => true, { "~standard": { version: 1 } });
    expect(overriding({ parameters: schema, name: "a" }, { name: "b" })).to.deep.include({
      parameters: schema,
      name: "b",
    });
  });
});
