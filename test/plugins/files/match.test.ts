import { expect } from "chai";
import { matchesName } from "../../../plugins/files/match.ts";

describe("a pattern of file names", () => {
  const cases: [string, string[], string[]][] = [
    ["*", ["", "a", "a.ts"], []],
    ["*.ts", [".ts", "a.ts", "A.TS", "a.ts.ts"], ["a.tsx", "ats", "a.t"]],
    ["a?c", ["abc", "a?c"], ["ac", "abbc", "abcd"]],
    ["a*b*c", ["abc", "axbxc", "abbcc"], ["acb", "ab", "abcx"]],
    ["readme", ["README"], ["readme.md", "read", ""]],
    ["**", ["", "x"], []],
    ["", [""], ["x"]],
  ];
  for (const [pattern, fit, others] of cases) {
    it(`${JSON.stringify(pattern)} fits these and no others`, () => {
      for (const name of fit) expect(matchesName(pattern, name), name).to.equal(true);
      for (const name of others) expect(matchesName(pattern, name), name).to.equal(false);
    });
  }
});
