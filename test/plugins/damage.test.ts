import { assert } from "chai";
import fc from "fast-check";
import anthropic from "../../plugins/anthropic/index.ts";
import bedrock from "../../plugins/bedrock/index.ts";
import gemini from "../../plugins/gemini/index.ts";
import ollama from "../../plugins/ollama/index.ts";
import type { Wire } from "../../src/plugin.ts";
import { decode, fixture } from "./decoding.ts";

const bodies = [
  [anthropic, "anthropic-messages", ["thinking-and-tools.sse", "server-tools.sse", "gateway.sse"]],
  [bedrock, "bedrock-converse", ["thoughts-and-calls.bin", "own-tools.bin"]],
  [gemini, "gemini", ["thoughts-and-calls.sse", "partial-arguments.sse", "own-tools.sse", "array.json"]],
  [ollama, "ollama", ["thinking-and-tools.ndjson", "generate.ndjson"]],
] as const;

const damage = fc.array(
  fc.record({
    at: fc.nat(),
    length: fc.nat({ max: 40 }),
    put: fc.constantFrom("", "null", "[]", "{}", '"', "-1", "\n\n", "__proto__", "\u0000"),
  }),
  { minLength: 1, maxLength: 4 },
);

describe("a damaged stream", () => {
  for (const [plugin, name, files] of bodies) {
    const wire = plugin.wires?.[name] as Wire; // declared by the plugin itself
    for (const file of files) {
      it(`of ${name} (${file}) is never thrown about: it has exactly one end, good or bad, and harms nothing`, () => {
        const body = fixture(plugin.name, file);
        fc.assert(
          fc.property(damage, (wounds) => {
            let hurt = body;
            for (const { at, length, put } of wounds) {
              const start = at % (hurt.length + 1);
              hurt = Buffer.concat([hurt.subarray(0, start), Buffer.from(put), hurt.subarray(start + length)]);
            }
            const { deltas, transcript } = decode(wire, hurt);
            assert.equal(deltas.filter(({ type }) => type === "done" || type === "error").length, 1);
            for (const call of transcript.calls) call.result();
            assert.isEmpty(Object.keys(Object.prototype));
          }),
          { numRuns: 150 },
        );
      });
    }
  }
});
