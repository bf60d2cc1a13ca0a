import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { assert } from "chai";
import fc from "fast-check";
import anthropic from "../../plugins/anthropic/index.ts";
import bedrock from "../../plugins/bedrock/index.ts";
import gemini from "../../plugins/gemini/index.ts";
import ollama from "../../plugins/ollama/index.ts";
import openai from "../../plugins/openai/index.ts";
import openaiResponses from "../../plugins/openai-responses/index.ts";
import { JsonSchema } from "../../src/agent/schema/json-schema.ts";
import { VenturiError } from "../../src/core/errors/errors.ts";
import type { Delta } from "../../src/core/model/deltas.ts";
import type { Frame, Wire } from "../../src/core/ports/plugin.ts";
import { loadConfig } from "../../src/host/config/load.ts";
import { Pipeline } from "../../src/provider/decode.ts";
import { framesOf } from "../../src/provider/frames/framing.ts";
import { message } from "../plugins/bedrock/stream.ts";
import type { Target } from "./target.ts";
import { anyBytes, anyJson, anyText, hurt, wounds } from "./values.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const wires: Wire[] = [anthropic, bedrock, gemini, ollama, openai, openaiResponses].flatMap((plugin) =>
  Object.values(plugin.wires ?? {}),
);
const fixtures = globSync("plugins/*/fixtures/*", { cwd: root }).map((file) => readFileSync(join(root, file)));

/** Whatever is thrown must be an error of ours, and not a fault. */
export function ours(thrown: unknown): void {
  if (VenturiError.isInstance(thrown) && thrown.code !== "internal") return;
  throw thrown;
}

export const frames: Target = {
  name: "frames",
  property: () =>
    fc.asyncProperty(
      fc.array(anyBytes, { maxLength: 8 }),
      fc.constantFrom("sse", "ndjson", "json-array", "aws-event-stream"),
      async (reads, framing) => {
        const cut = (pieces: readonly Buffer[]): Frame[] => {
          const out: Frame[] = [];
          try {
            const parser = framesOf(framing, 100_000);
            for (const piece of pieces) parser.push(piece, out);
            parser.end(out);
          } catch (thrown) {
            ours(thrown);
          }
          return out;
        };
        const whole = Buffer.concat(reads);
        assert.deepEqual(cut([...whole].map((byte) => Buffer.of(byte))), cut([whole]));
        assert.deepEqual(cut(reads), cut([whole]));
      },
    ),
};

/** With right checksums, or no payload would get past the framing. */
const converseEvents = [
  "messageStart",
  "contentBlockStart",
  "contentBlockDelta",
  "contentBlockStop",
  "messageStop",
  "metadata",
  "other",
];

export const decoders: Target = {
  name: "decoders",
  property: () => {
    const body = fc.oneof(
      fc.tuple(fc.constantFrom(...fixtures), wounds).map(([fixture, cuts]) => hurt(fixture, cuts)),
      fc
        .array(anyJson, { maxLength: 5 })
        .map((values) => Buffer.from(values.map((value) => `data: ${JSON.stringify(value)}\n\n`).join(""))),
      fc
        .array(fc.tuple(fc.constantFrom(...converseEvents), anyJson), { maxLength: 5 })
        .map((events) => Buffer.concat(events.map(([name, value]) => message(name, value as object)))), // encoded as JSON
      anyBytes,
    );
    return fc.asyncProperty(fc.constantFrom(...wires), body, async (wire, bytes) => {
      const deltas: Delta[] = [];
      const pipeline = new Pipeline("provider.stream", wire, {});
      pipeline.push(bytes, deltas);
      pipeline.end(deltas);
      assert.equal(deltas.filter(({ type }) => type === "done" || type === "error").length, 1);
      for (const delta of deltas) if (delta.type === "error") ours(delta.error);
    });
  },
};

export const config = (folder: string): Target => ({
  name: "config",
  property: () => {
    const examples = globSync("config/*.yaml", { cwd: root }).map((file) => readFileSync(join(root, file)));
    const text = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.tuple(fc.constantFrom(...examples), wounds).map(([example, cuts]) => hurt(example, cuts)),
      },
      anyText.map((words) => Buffer.from(words)),
      anyJson.map((value) =>
        Buffer.from(`version: 1\nagents: ${JSON.stringify(value)}\ntools: ${JSON.stringify(value)}\n`),
      ),
    );
    return fc.asyncProperty(text, async (bytes) => {
      const file = join(folder, "fuzz.yaml");
      writeFileSync(file, bytes);
      await loadConfig({ file, env: {} }).catch(ours);
    });
  },
});

export const schemas: Target = {
  name: "schemas",
  property: () =>
    fc.asyncProperty(anyJson, anyJson, anyText, async (schema, value, pattern) => {
      const root = {
        type: "object",
        properties: { value: schema, text: { pattern: pattern.slice(0, 60) } },
        $defs: { a: schema },
      };
      const start = performance.now();
      try {
        new JsonSchema(root).problems({ value, text: pattern });
      } catch (thrown) {
        ours(thrown);
      }
      assert.isBelow(performance.now() - start, 5_000, "ms");
    }),
};
