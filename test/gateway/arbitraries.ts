import fc from "fast-check";

/** Pieces that the requests of both of OpenAI's APIs are made of. */
export const words = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 });
export const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,11}$/);
export const base64 = fc
  .uint8Array({ minLength: 1, maxLength: 9 })
  .map((bytes) => Buffer.from(bytes).toString("base64"));
export const json = fc.dictionary(name, fc.oneof(words, fc.integer(), fc.boolean()), { maxKeys: 3 });
/** Arguments as models write them: with spaces, and now and then no JSON at all. */
export const argumentsText = fc.oneof(
  json.map((value) => JSON.stringify(value)),
  json.map((value) => JSON.stringify(value, null, 1)),
  fc.constant('{"cut":'),
);
export const schema = fc.record({
  type: fc.constant("object"),
  properties: fc.dictionary(name, fc.constantFrom({ type: "string" }, { type: "integer" }), { maxKeys: 2 }),
});
export const imageUrl = fc.oneof(
  fc.constant("https://example.com/a.png"),
  base64.map((data) => `data:image/png;base64,${data}`),
);
export const fileData = base64.map((data) => `data:application/pdf;base64,${data}`);

/** An object whose optional fields are there or not. */
export const some = <T extends Record<string, fc.Arbitrary<unknown>>>(fields: T) =>
  fc.record(fields, { requiredKeys: [] });

export const effort = fc.constantFrom("none", "minimal", "low", "medium", "high", "xhigh", "beyond");
export const tier = fc.constantFrom("auto", "default", "flex", "priority");
export const share = fc.integer({ min: 0, max: 20 }).map((value) => value / 10);
