import { readFileSync } from "node:fs";
import { expect } from "chai";
import fc from "fast-check";
import { VenturiError } from "../../../src/core/errors/errors.ts";
import { loadConfig } from "../../../src/host/config/load.ts";
import { testFolder } from "../folder.ts";

const written = readFileSync(new URL("../../../../config/venturi.yaml", import.meta.url), "utf8");
const pieces = [
  "{",
  "}",
  "[",
  "]",
  ":",
  "- ",
  "\n",
  "  ",
  "&a ",
  "*a",
  "!!map ",
  "!x ",
  "? ",
  "|",
  ">",
  '"',
  "'",
  "#",
  "%",
  "@",
  "`",
  "\t",
  "${env:",
  "${file:/",
  "}",
  "__proto__: 1",
  "null",
  "~",
  "1e999",
  "0x1F",
  "<<: *a",
  "---\n",
  "\u0000",
  "é",
  "\ud83d\ude00",
];

describe("a configuration that was tampered with", () => {
  const folder = testFolder();

  it("is accepted or refused with locations, and has no other effect", async () => {
    const change = fc.record({
      at: fc.nat(written.length),
      cut: fc.nat(40),
      put: fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 8 })),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
        let text = written;
        for (const { at, cut, put } of changes) text = `${text.slice(0, at)}${put}${text.slice(at + cut)}`;
        const file = folder.write({ "venturi.yaml": text });
        const outcome = await loadConfig({ file, env: {} }).catch((thrown: unknown) => thrown);
        if (!(outcome instanceof Error)) return;
        expect(outcome, text).to.be.instanceOf(VenturiError);
        const { code } = outcome as VenturiError;
        if (code !== "config_invalid") throw new Error(text, { cause: outcome });
        for (const line of outcome.message.split("\n"))
          expect(line).to.match(/^(?:\S+venturi\.yaml(?::\d+:\d+)?|the default)[: ]/);
      }),
      { numRuns: 300 },
    );
  });
});
