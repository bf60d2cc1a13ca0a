import { expect } from "chai";
import { applyPatch } from "../../src/core/run/json-patch.ts";
import type { PatchOperation } from "../../src/core/run/memory-events.ts";

type Case = readonly [before: unknown, patch: PatchOperation[], after: unknown];

/** From RFC 6902, appendix A, and its edges. */
const fits: readonly Case[] = [
  [{ a: 1 }, [{ op: "add", path: "/b", value: 2 }], { a: 1, b: 2 }],
  [{ a: [1, 3] }, [{ op: "add", path: "/a/1", value: 2 }], { a: [1, 2, 3] }],
  [{ a: [1] }, [{ op: "add", path: "/a/-", value: [2] }], { a: [1, [2]] }],
  [{ a: [1, 2] }, [{ op: "remove", path: "/a/0" }], { a: [2] }],
  [{ a: 1, b: 2 }, [{ op: "remove", path: "/a" }], { b: 2 }],
  [{ a: 1 }, [{ op: "replace", path: "/a", value: null }], { a: null }],
  [{ a: { b: 1 } }, [{ op: "move", from: "/a/b", path: "/c" }], { a: {}, c: 1 }],
  [{ a: [1, 2, 3] }, [{ op: "move", from: "/a/0", path: "/a/2" }], { a: [2, 3, 1] }],
  [{ a: { b: [1] } }, [{ op: "copy", from: "/a", path: "/c" }], { a: { b: [1] }, c: { b: [1] } }],
  [
    { "~1": 1, "a/b": 2 },
    [
      { op: "replace", path: "/~01", value: 3 },
      { op: "remove", path: "/a~1b" },
    ],
    { "~1": 3 },
  ],
  [{ a: { x: [1, { y: 2 }] } }, [{ op: "test", path: "/a", value: { x: [1, { y: 2 }] } }], { a: { x: [1, { y: 2 }] } }],
  [{ a: 1 }, [{ op: "add", path: "", value: { b: 1 } }], { b: 1 }],
  [{ "": 1 }, [{ op: "replace", path: "/", value: 2 }], { "": 2 }],
];

const refused: readonly (readonly [before: unknown, patch: PatchOperation[], why: RegExp])[] = [
  [{}, [{ op: "add", path: "/a/b", value: 1 }], /nothing at \/a/],
  [{}, [{ op: "replace", path: "/a", value: 1 }], /nothing at \/a/],
  [{}, [{ op: "remove", path: "/a" }], /nothing at \/a/],
  [{ a: 1 }, [{ op: "test", path: "/a", value: "1" }], /another one/],
  [{ a: [1] }, [{ op: "add", path: "/a/2", value: 1 }], /no such place/],
  [{ a: [1] }, [{ op: "add", path: "/a/00", value: 1 }], /no such place/],
  [{ a: [1] }, [{ op: "add", path: "/a/-1", value: 1 }], /no such place/],
  [{ a: [1] }, [{ op: "add", path: "/a/1e0", value: 1 }], /no such place/],
  [{ a: [1] }, [{ op: "remove", path: "/a/-" }], /nothing at/],
  [{ a: [1] }, [{ op: "replace", path: "/a/length", value: 9 }], /nothing at/],
  [{ a: { b: 1 } }, [{ op: "move", from: "/a", path: "/a/b/c" }], /into itself/],
  [{ a: 1 }, [{ op: "add", path: "a", value: 1 }], /begins with/],
  [{ a: 1 }, [{ op: "add", path: "/b" }], /no value/],
  [{ a: 1 }, [{ op: "copy", path: "/b" }], /no from/],
  [{ a: 1 }, [{ op: "add", path: "/toString/x", value: 1 }], /nothing at/],
  [
    { a: 1 },
    [
      { op: "add", path: "/b", value: 1 },
      { op: "remove", path: "/c" },
    ],
    /patch\[1\] \(remove \/c\)/,
  ],
];

describe("a JSON Patch", () => {
  it("gives a new value and leaves the old one", () => {
    for (const [before, patch, after] of fits) {
      const copy = structuredClone(before);
      expect(applyPatch(before, patch), JSON.stringify(patch)).to.deep.equal(after);
      expect(before).to.deep.equal(copy);
    }
  });

  it("that does not fit is refused as a whole, with the operation", () => {
    for (const [before, patch, why] of refused) {
      const copy = structuredClone(before);
      expect(() => applyPatch(before, patch), JSON.stringify(patch)).to.throw(why);
      expect(before).to.deep.equal(copy);
    }
  });

  it("never reaches a prototype", () => {
    const after = applyPatch({}, [{ op: "add", path: "/__proto__", value: { evil: true } }]);
    expect(JSON.stringify(after)).to.equal('{"__proto__":{"evil":true}}');
    expect(Object.getPrototypeOf(after)).to.equal(Object.prototype);
    expect(() => applyPatch({}, [{ op: "add", path: "/__proto__/evil", value: true }])).to.throw(/nothing at/);
    expect(() => applyPatch({}, [{ op: "add", path: "/constructor/prototype/evil", value: 1 }])).to.throw(/nothing at/);
    expect({}).to.not.have.property("evil");
  });

  it("does not share values between places", () => {
    const after = applyPatch({ a: { n: 1 } }, [
      { op: "copy", from: "/a", path: "/b" },
      { op: "replace", path: "/b/n", value: 2 },
    ]);
    expect(after).to.deep.equal({ a: { n: 1 }, b: { n: 2 } });
  });
});
