import { definePlugin, messageOf } from "venturi/plugin";
import { z } from "zod";
import { Automaton } from "./automaton.ts";
import { knownRule, knownRules } from "./known.ts";
import { type Rule, RuleScanner, RuleSet } from "./scanner.ts";

const longest = 2_000;

export default definePlugin({
  name: "rules",
  kind: "guard",
  description: "Finds personal data, keys, injected orders and patterns of your own, also in a stream",
  options: z.strictObject({
    find: z.array(z.enum(knownRules)).default([]).describe("what to look for, by name"),
    patterns: z
      .record(z.string().regex(/^[A-Za-z][A-Za-z0-9_-]{0,39}$/), z.string().min(1).max(longest))
      .default({})
      .describe("your own regular expressions (RE2), by the name shown in the mask"),
    window: z
      .number()
      .int()
      .min(32)
      .max(4_096)
      .default(256)
      .describe("maximum characters held back while they could still become a finding"),
  }),
  check: ({ find, patterns }) => {
    if (find.length === 0 && Object.keys(patterns).length === 0)
      return [{ path: [], message: "this guard looks for nothing; name something in `find` or `patterns`" }];
    return Object.entries(patterns).flatMap(([name, pattern]) => {
      try {
        return matchesNothing(new Automaton(pattern))
          ? [{ path: ["patterns", name], message: "it matches the empty text" }]
          : [];
      } catch (thrown) {
        return [{ path: ["patterns", name], message: `not an expression that RE2 takes: ${messageOf(thrown)}` }];
      }
    });
  },
  create: ({ find, patterns, window }) => {
    const own = Object.entries(patterns).map(([name, pattern]): Rule => ({ name, automaton: new Automaton(pattern) }));
    const rules = new RuleSet([...find.flatMap(knownRule), ...own]);
    return { scanner: (sink) => new RuleScanner(rules, window, sink) };
  },
});

const matchesNothing = (automaton: Automaton): boolean => automaton.initial(0).step(-1).accepts;
