import type { Planted } from "./planted.ts";

const tool = (name: string, body: string) =>
  `export const ${name} = { description: "${name}", parameters: { type: "object" }, effect: "effectful", ${body} };\n`;
export const modules = [
  tool("quick", "call: () => 'done'"),
  tool("paid", "call: () => 'paid', approval: 'always'"),
  tool("slow", "call: () => new Promise((resolve) => setTimeout(resolve, 1200, 'at last'))"),
  tool("stuck", "timeout: 600, call: () => new Promise(() => {})"),
  tool("broken", "call: () => { throw new Error('the till is empty'); }"),
].join("");

const scenario = (name: string, turns: readonly Record<string, unknown>[], advance: "round" | "request") => ({
  name,
  match: { model: "*" },
  advance,
  turns,
});

/** Turns that fail are distinguished by request: the conversation does not grow with them. */
const advanceOf = ({ turns }: Planted): "round" | "request" =>
  turns?.some((turn) => "faults" in turn) ? "request" : "round";

/** The planted problems in one configuration: the agent of the problem at index n is `subject` n. */
export function configOf(problems: readonly Planted[]): Record<string, unknown> {
  const simulator = (scenarios: readonly Record<string, unknown>[], faults = "") => ({
    type: "simulator",
    pace: 0,
    faults,
    scenarios,
  });
  const named = <T>(value: (problem: Planted, index: number) => [string, T]) =>
    Object.fromEntries(problems.map((problem, index) => value(problem, index)));
  const alone = problems.length === 1;
  const limited = (index: number) => (alone ? "limited" : `limited${index}`);
  return {
    providers: {
      ...named((problem, index) => {
        const { turns = [{ text: "fine" }], faults = "" } = problem;
        return [limited(index), simulator([scenario("first", turns, advanceOf(problem))], faults)];
      }),
      backup: simulator([scenario("second", [{ text: "the backup says so" }], "round")]),
      other: simulator([scenario("helper", [{ calls: [{ name: "slow" }] }, { text: "helped" }], "round")]),
    },
    models: named(({ backup, model }, index) => [
      `main${index}`,
      { chain: [`${limited(index)}/m`, ...(backup ? ["backup/m"] : [])], ...model },
    ]),
    tools: {
      ...Object.fromEntries(
        ["quick", "slow", "stuck", "broken", "paid"].map((name) => [
          name,
          { type: "module", path: "./tools.mjs", export: name },
        ]),
      ),
      helper: { type: "agent", agent: "helper" },
    },
    agents: {
      ...named(({ tools = [], agent }, index) => [
        `subject${index}`,
        { model: `main${index}`, tools: [...tools], ...agent },
      ]),
      helper: { model: "other/m", tools: ["slow"] },
    },
  };
}
