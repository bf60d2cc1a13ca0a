import type { RunSet } from "../scoring/run-set.ts";
import type { Summary } from "../stats/compare.ts";
import { escapeMarkup } from "./markup.ts";

/** A test case per item and repetition, and one per scorer for its threshold. */
export function junitXml(found: RunSet, summary: Summary): string {
  const items = found.items.map((item) => {
    const bad = Object.entries(item.scores).filter(([, { score }]) => score < 0.5);
    const reasons = bad.map(([name, { score, why = "" }]) => `${name} ${score}: ${why}`);
    // No scorer may count it, and it failed all the same.
    if (!item.ok && bad.length === 0) reasons.push(`the run failed: ${item.code ?? "unknown"}`);
    const why = reasons.join("\n");
    const name = item.repeat > 1 ? `${item.id} (${item.repeat})` : item.id;
    const head = `<testcase classname="${escapeMarkup(found.set)}" name="${escapeMarkup(name)}" time="${(item.ms / 1_000).toFixed(3)}">`;
    const failure =
      reasons.length === 0
        ? ""
        : `<failure message="${escapeMarkup(why.slice(0, 200))}">${escapeMarkup(why)}</failure>`;
    return { text: `  ${head}${failure}</testcase>`, failed: reasons.length > 0 };
  });
  const gates = summary.scorers.map(({ scorer, failures }) => ({
    text: `  <testcase classname="${escapeMarkup(found.set)}.thresholds" name="${escapeMarkup(scorer)}" time="0">${failures
      .map((failure) => `<failure message="${escapeMarkup(failure)}"/>`)
      .join("")}</testcase>`,
    failed: failures.length > 0,
  }));
  const all = [...items, ...gates];
  const failed = all.filter((each) => each.failed).length;
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="${escapeMarkup(found.set)}" tests="${all.length}" failures="${failed}" timestamp="${new Date(found.at).toISOString()}">
${all.map(({ text }) => text).join("\n")}
</testsuite>
`;
}
