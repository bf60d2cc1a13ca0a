import fc from "fast-check";

/** Words that parsers trip over. */
export const token = fc.constantFrom(
  ...'{ } [ ] " : , \\ \n \r \r\n \0 \t - . null true 1e999 -0 \u2028 \ufeff \ud800 __proto__ constructor data: event: id: '.split(
    " ",
  ),
  "\n\n",
  "data: ",
  "data: [DONE]\n\n",
  '{"type":"',
  "[".repeat(300),
  '{"a":'.repeat(300),
  "x".repeat(5_000),
  "é😀",
);

export const anyText = fc.oneof(
  fc.array(fc.oneof(token, fc.string({ unit: "binary" })), { maxLength: 30 }).map((parts) => parts.join("")),
  fc.json({ maxDepth: 5 }),
);
export const anyBytes = fc.oneof(
  anyText.map((text) => Buffer.from(text)),
  fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
);

const names =
  "agent input text messages role content parts type session metadata limits tools name description parameters function schema model stream max_tokens tool_choice response_format json_schema output options id key run call approved reason properties items pattern enum $ref anyOf required url data image_url threadId runId state context variables cursor limit after".split(
    " ",
  );

/** Values that look like what is expected, here and there. */
export const anyJson = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom<unknown>(
      null,
      true,
      0,
      -1,
      1e308,
      "",
      "user",
      "go",
      "text",
      "auto",
      "\0",
      "\ud800",
      "x".repeat(300),
    ),
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...names), tie("value"), { maxKeys: 6 }),
  ),
})).value;

/** Places of a text where something else is put. */
export const wounds = fc.array(
  fc.record({ at: fc.nat(), length: fc.nat({ max: 60 }), put: fc.oneof(token, fc.string()) }),
  {
    minLength: 1,
    maxLength: 5,
  },
);

export function hurt(body: Buffer, cuts: readonly { at: number; length: number; put: string }[]): Buffer {
  let result = body;
  for (const { at, length, put } of cuts) {
    const start = at % (result.length + 1);
    result = Buffer.concat([result.subarray(0, start), Buffer.from(put), result.subarray(start + length)]);
  }
  return result;
}
