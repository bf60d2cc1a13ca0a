import { assert } from "chai";
import { outputSchema } from "../../../plugins/anthropic/schema.ts";

describe("a JSON Schema for Anthropic's structured output", () => {
  it("closes every object, however deep", () => {
    const person = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };
    const closed = { ...person, additionalProperties: false };
    const schema = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      additionalProperties: true,
      properties: { people: { type: "array", items: person, minItems: 1 }, one: { oneOf: [person, { type: "null" }] } },
      $defs: { person },
    };
    assert.deepEqual(outputSchema(schema), {
      type: "object",
      additionalProperties: false,
      properties: {
        people: { type: "array", items: closed, minItems: 1 },
        one: { anyOf: [closed, { type: "null" }] },
      },
      $defs: { person: closed },
    });
  });

  it("tells limits that the API has no word for in the description", () => {
    assert.deepEqual(outputSchema({ type: "integer", minimum: 1, maximum: 5, description: "Stars" }), {
      type: "integer",
      description: "Stars\nminimum: 1, maximum: 5",
    });
    assert.deepEqual(outputSchema({ type: "string", format: "date", maxLength: 9 }), {
      type: "string",
      format: "date",
      description: "maxLength: 9",
    });
    assert.deepEqual(outputSchema({ type: "string", format: "phone" }), {
      type: "string",
      description: 'format: "phone"',
    });
  });

  it("takes a property for a property, whatever its name", () => {
    const properties = { minimum: { type: "number" }, __proto__x: { type: "string" }, description: { type: "string" } };
    assert.deepEqual(outputSchema({ type: "object", properties }).properties, properties);
  });
});
