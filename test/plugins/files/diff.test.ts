import { expect } from "chai";
import { createdBy, updatedBy } from "../../../plugins/files/diff.ts";

const text = "one\ntwo\nthree\ntwo\nfour\n";

describe("diffs in the form of apply_patch", () => {
  it("change the passage behind the anchor, not an equal one before it", () => {
    expect(updatedBy(text, "@@ three\n-two\n+TWO\n")).to.equal("one\ntwo\nthree\nTWO\nfour\n");
    expect(updatedBy(text, "@@\n-two\n+TWO\n")).to.equal("one\nTWO\nthree\ntwo\nfour\n");
  });

  it("have several hunks, each behind the one before", () => {
    expect(updatedBy(text, "@@\n-two\n+2\n@@\n-two\n+zwei\n four\n")).to.equal("one\n2\nthree\nzwei\nfour\n");
    expect(() => updatedBy(text, "@@\n-four\n+4\n@@\n-one\n+1\n")).to.throw("is not in the file");
  });

  it("keep the file's own ending of lines, its blanks and its missing newline", () => {
    expect(updatedBy("a\r\nb\r\n", "@@\n a\n-b\n+c\n+d\n")).to.equal("a\r\nc\r\nd\r\n");
    expect(updatedBy("a  \nb", "@@\n a\n-b\n+c\n")).to.equal("a  \nc");
  });

  it("leave the ends of lines that stay as they are, where a file has both", () => {
    expect(updatedBy("a\nb\r\nc\nd", "@@\n-c\n+C\n")).to.equal("a\nb\r\nC\nd");
    expect(updatedBy("a\r\nb\r\nc\nd\r\n", "@@\n a\n+x\n")).to.equal("a\r\nx\r\nb\r\nc\nd\r\n");
  });

  it("that take away every line leave an empty file", () => {
    expect(updatedBy("a\nb\n", "@@\n-a\n-b\n")).to.equal("");
  });

  it("add to the end, and to an empty file", () => {
    expect(updatedBy("a\n", "@@\n+b\n*** End of File\n")).to.equal("a\nb\n");
    expect(updatedBy("", "@@\n+b\n")).to.equal("b\n");
    expect(updatedBy("x\na\nx\n", "@@\n-x\n+y\n*** End of File\n")).to.equal("x\na\ny\n");
  });

  it("at the end of the file may be the whole file, and may not reach before the hunk above", () => {
    expect(updatedBy("x\n", "@@\n-x\n+y\n*** End of File\n")).to.equal("y\n");
    expect(() => updatedBy("a\nx\n", "@@\n-x\n+y\n@@\n-a\n-x\n*** End of File\n")).to.throw("is not in the file");
  });

  it("may omit the space of an empty line", () => {
    expect(updatedBy("a\n\nb\n", "@@\n a\n\n-b\n+c\n")).to.equal("a\n\nc\n");
  });

  it("that do not fit are refused and never guessed", () => {
    for (const diff of ["@@\n-nothing\n+x\n", "@@ nowhere\n-one\n", "@@\n one\n", "*** Begin Patch\n", "one\n"]) {
      expect(() => updatedBy(text, diff), diff).to.throw();
    }
    expect(() => createdBy("+a\nb\n")).to.throw("begins with");
    expect(createdBy("+a\n+\n+b")).to.equal("a\n\nb\n");
  });
});
