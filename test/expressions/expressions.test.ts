import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { collect, collectFrom, type Literal, root, spelled } from "./collect.ts";
import { built, exceptions } from "./exceptions.ts";
import { prove } from "./prove.ts";

const linear: ReadonlySet<string> = new Set(
  JSON.parse(readFileSync(join(root, "test/expressions/linear.json"), "utf8")) as string[],
);
const found = collect();
const isExcepted = (literal: Literal): boolean =>
  exceptions.some(({ expression, files }) => expression === spelled(literal) && files.includes(literal.file));

describe("the regular expressions of the program", () => {
  it("are all found, however they are written", () => {
    const text = `const a = /a+/g, b = x.split(/,/), c = z.string().regex(/^\\w$/u); new RegExp("x"); RegExp(a); <p title={/q/.source} />;`;
    const { literals, built: made } = collectFrom("some.tsx", text);
    expect(literals.map(spelled)).to.deep.equal(["/a+/g", "/,/", "/^\\w$/u", "/q/"]);
    expect(made).to.have.length(2);
    expect(found.literals.length).to.be.above(300);
  });

  it("each take time linear in the text, as proved by recheck, or are listed with what bounds their text", () => {
    const unproved = found.literals
      .filter((literal) => !linear.has(spelled(literal)) && !isExcepted(literal))
      .filter((literal) => prove(literal, 10_000) !== "linear")
      .map((literal) => `${literal.file}:${literal.line} ${spelled(literal)}`);
    const help =
      "run `npm run expressions`; rewrite what it cannot prove, or list it in test/expressions/exceptions.ts";
    expect(unproved, help).to.deep.equal([]);
  });

  it("that are made at run time are listed too", () => {
    const counts = new Map<string, number>();
    for (const { file } of found.built) counts.set(file, (counts.get(file) ?? 0) + 1);
    const more = [...counts].filter(([file, count]) => count > (built[file]?.count ?? 0));
    expect(more).to.deep.equal([]);
  });

  it("are excepted only as long as they exist", () => {
    const stale = exceptions.flatMap(({ expression, files }) =>
      files
        .filter((file) => !found.literals.some((one) => one.file === file && spelled(one) === expression))
        .map((file) => `${file} ${expression}`),
    );
    expect(stale).to.deep.equal([]);
  });

  it("of the list that are short are proved again, every fourth (all by npm run expressions -- --all)", () => {
    const listed = found.literals.filter((one) => one.source.length <= 12 && linear.has(spelled(one)));
    const short = listed.filter((_, index) => index % 4 === 0);
    const doubted = short.filter((one) => prove(one, 20_000) !== "linear").map(spelled);
    expect(doubted).to.deep.equal([]);
    const polynomial = { file: "", line: 0, source: "^x-|;.*$", flags: "g" };
    expect(prove(polynomial, 20_000)).to.equal("2nd degree polynomial");
  });
});
