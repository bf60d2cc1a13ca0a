import { expect } from "chai";
import fc from "fast-check";
import { Blocks } from "../../../plugins/channel-console/web/text/blocks.ts";
import { highlight } from "../../../plugins/channel-console/web/text/highlight.ts";
import { decodeEntities, lex, safeLink } from "../../../plugins/channel-console/web/text/lex.ts";
import { printable } from "../../../plugins/channel-console/web/text/printable.ts";
import { cpuTime } from "../../cpu-time.ts";

const markdown = fc
  .array(
    fc.constantFrom(
      "a",
      "b",
      "\n",
      "\n\n",
      "```",
      "~~~",
      "- ",
      "1. ",
      "> ",
      "  ",
      "\t",
      "|",
      "# ",
      "*",
      "_",
      "[",
      "](",
      ")",
      "<",
      "`",
    ),
    { maxLength: 80 },
  )
  .map((parts) => parts.join(""));

const split = (pieces: readonly string[]): string[] => {
  const blocks = new Blocks();
  for (const piece of pieces) blocks.push(piece);
  return [...blocks.closed, blocks.open];
};

describe("streaming Markdown", () => {
  it("has the same blocks wherever the text was cut", () => {
    fc.assert(
      fc.property(markdown, fc.array(fc.nat(160), { maxLength: 6 }), (text, cuts) => {
        const at = [0, ...cuts.map((cut) => cut % (text.length + 1)).sort((one, other) => one - other), text.length];
        const pieces = at.slice(1).map((end, index) => text.slice(at[index], end));
        expect(split(pieces)).to.deep.equal(split([text]));
      }),
    );
  });

  it("a closed block never changes, and no character but blank lines is lost", () => {
    fc.assert(
      fc.property(markdown, markdown, (first, second) => {
        const before = split([first]).slice(0, -1);
        const whole = split([first, second]);
        expect(whole.slice(0, before.length)).to.deep.equal(before);
        const letters = (text: string) => text.replaceAll(/\s/g, "");
        expect(letters(whole.join(""))).to.equal(letters(first + second));
      }),
    );
  });

  it("a blank line inside a fence or between items of a list ends no block", () => {
    expect(split(["```\na\n\nb\n```\n\nc\n"])).to.deep.equal(["```\na\n\nb\n```\n", "c\n"]);
    expect(split(["- a\n\n- b\n\nc\n"])).to.deep.equal(["- a\n\n- b\n", "c\n"]);
  });

  it("is lexed in no time and without an exception, however hostile", () => {
    const times = 8_000;
    const seeds = [
      "*a",
      "**a ",
      "[",
      "[a](",
      "a_",
      "`a",
      "> ",
      "- a\n",
      "<a ",
      "http://a.",
      "a@",
      "~a",
      "\\",
      "&a",
      "![",
      "[a",
      "*_",
    ];
    for (const seed of seeds) {
      const took = cpuTime(() => expect(lex(seed.repeat(times / seed.length))).to.be.an("array"));
      expect(took, seed).to.be.lessThan(2000);
    }
    fc.assert(fc.property(fc.string({ maxLength: 400 }), (text) => Array.isArray(lex(text))));
  });
});

describe("text from outside", () => {
  it("has no terminal escapes, control characters or marks that reorder it", () => {
    expect(printable("\u001b[31mred\u001b[0m\u0007 \u202egnp.exe\u0000")).to.equal("red␇ �gnp.exe␀");
    fc.assert(
      fc.property(
        fc.array(fc.nat(0x2100), { maxLength: 200 }).map((codes) => String.fromCharCode(...codes)),
        (text) => {
          for (const char of printable(text)) {
            const code = char.codePointAt(0) ?? 0;
            const isControl = (code < 32 && code !== 9 && code !== 10 && code !== 13) || (code >= 127 && code < 160);
            const isBidi = (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
            if (isControl || isBidi) throw new Error(`U+${code.toString(16)} was left in`);
          }
        },
      ),
    );
  });

  it("is linked to the web and to mail only", () => {
    expect(safeLink("https://example.org/a")?.host).to.equal("example.org");
    expect(safeLink("mailto:a@example.org")?.protocol).to.equal("mailto:");
    for (const href of [
      "javascript:alert(1)",
      " javascript:alert(1)",
      "java\nscript:x",
      "data:text/html,x",
      "//evil",
      "vbscript:x",
      "blob:x",
      "file:///etc",
      "http:evil",
    ]) {
      expect(safeLink(href), href).to.equal(undefined);
    }
  });

  it("decodes the common character references, once", () => {
    expect(decodeEntities("&lt;b&gt; &amp;lt; &#x41;&#65; &nope; &#xd800;")).to.equal("<b> &lt; AA &nope; �");
  });

  it("code is coloured without changing a character", () => {
    fc.assert(
      fc.property(
        fc.string({ maxLength: 200 }),
        fc.constantFrom("json", "ts", "py", "sh", "yaml", "sql", "diff"),
        (text, language) => {
          const pieces = highlight(text, language);
          if (pieces !== undefined) expect(pieces.map(({ value }) => value).join("")).to.equal(text);
        },
      ),
    );
    expect(highlight('{"a": 1}', "json")?.some(({ type }) => type === "property")).to.equal(true);
  });
});
