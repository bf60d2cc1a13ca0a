import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { assert } from "chai";
import { keepOne } from "../../src/core/values/keep-one.ts";

class Part {}

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void; // there since the flag is set

/** In its own function, so that no variable of the test holds the instance. */
function made(): WeakRef<Part> {
  const part = new Part();
  keepOne(part);
  return new WeakRef(part);
}

describe("keepOne", () => {
  it("holds the last instance of a class and lets the ones before it go", async () => {
    const first = made();
    const second = made();
    await new Promise(setImmediate); // a weak reference holds until the end of its turn
    collect();
    assert.isUndefined(first.deref());
    assert.instanceOf(second.deref(), Part);
  });
});
