import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { isSlow, sampled } from "../sweep.ts";
import { venturi } from "./venturi.ts";

/** Each command with a file that does not exist, or a word or number that is none. */
const cases: readonly (readonly [words: string, error: RegExp])[] = [
  ["decode --wire openai-chat missing.sse", /cli\.decode: not_found: missing\.sse cannot be read: ENOENT/],
  ["decode --wire openai-chat folder", /cli\.decode: invalid_input: folder cannot be read: EISDIR/],
  ["decode --wire nope missing.sse", /cli\.decode: invalid_input: no plugin speaks the wire "nope"/],
  ["import missing.ndjson", /cli\.import: not_found: missing\.ndjson cannot be read/],
  ["import folder", /cli\.import: invalid_input: folder cannot be read/],
  ["simulate --port 99999", /cli\.run: invalid_input: .*port/],
  ["simulate --port x", /cli\.simulate: invalid_input/],
  ["simulate --scenario missing.yaml", /scenario file can't be read: ENOENT/],
  ["replay run_missing", /not_found: there is no run run_missing/],
  ["export run_missing", /not_found: there is no run run_missing/],
  ["trace run_missing", /not_found: there is no run "run_missing"/],
  ["why run_missing", /not_found: there is no run "run_missing"/],
  ["fork run_missing --after 1", /not_found: there is no run "run_missing"/],
  ["fork run_missing --after x", /cli\.fork: invalid_input/],
  ["compare a b", /not_found: there is no run "a"/],
  ["prune --older-than x", /cli\.prune: invalid_input/],
  ["runs --limit x", /cli\.runs: invalid_input/],
  ["runs --since foo-3", /cli\.runs: invalid_input: --since: "foo-3" is neither a duration/],
  ["evals --since 2026-02-30", /cli\.runs: invalid_input: --since: "2026-02-30" is neither a duration/],
  ["usage --since 2026-02-30", /usage\.report: invalid_input: since: expected a day/],
  ["run nobody hi", /run\.start: not_found: there is no agent "nobody"/],
  ["chat nobody", /cli\.chat: not_found: there is no agent "nobody"/],
  ["run assistant hi --set x", /invalid_input: --set needs path=value/],
  ["init file", /cli\.init: (?:conflict|invalid_input): file cannot be written: E/],
  ["eval missing.yaml", /cli\.eval: not_found: missing\.yaml cannot be read/],
  ["eval set.yaml --as a/b", /cli\.eval: invalid_input: --as: letters, digits/],
  [
    "eval set.yaml --junit nowhere/junit.xml",
    /cli\.eval: invalid_input: --junit: nowhere\/junit\.xml cannot be written/,
  ],
  ["eval set.yaml --html folder", /cli\.eval: invalid_input: --html: folder cannot be written/],
  ["dataset import missing.yaml --to new.jsonl --agent a", /cli\.dataset: not_found: missing\.yaml cannot be read/],
  ["schedules --remove", /cli\.schedules: invalid_input: name the schedule to remove/],
  ["webhooks --replay", /cli\.webhooks: invalid_input: name the webhook/],
  ["webhooks crm --replay --drop", /cli\.webhooks: invalid_input: one of --replay and --drop/],
  ["completion x", /cli\.completion: invalid_input/],
  ["validate --config missing.yaml", /missing\.yaml: does not exist/],
  ["start --config missing.yaml", /missing\.yaml: does not exist/],
  ["start --config folder", /folder: is a folder, not a file/],
  ["reload --config missing.yaml", /missing\.yaml: does not exist/],
  ["plugin new x --kind x", /Allowed choices are/],
];

describe("a command that is given a wrong word", () => {
  let folder = "";
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "wrong-words-"));
    mkdirSync(join(folder, "folder"));
    writeFileSync(join(folder, "file"), "");
    writeFileSync(join(folder, "set.yaml"), "agent: assistant\nitems: [{ input: hello }]\n");
    await venturi(["init"], {}, folder);
  });
  after(() => rmSync(folder, { recursive: true }));

  it("exits with an error that says which, and prints nothing else", async () => {
    const wrong: string[] = [];
    const tried = sampled(cases, 4);
    const atOnce = isSlow ? 4 : 1; // one process takes one command at a time
    for (let at = 0; at < tried.length; at += atOnce) {
      const some = tried.slice(at, at + atOnce).map(async ([words, error]) => {
        const { exit, out, err } = await venturi(words.split(" "), {}, folder);
        if (exit === 0 || out !== "" || !error.test(err)) wrong.push(`${words} → ${exit}, "${out}", "${err}"`);
      });
      await Promise.all(some);
    }
    expect(wrong).to.deep.equal([]);
  });
});
