import { definePlugin, defineTool, fromToolOptions, toolOptions } from "venturi/plugin";
import { z } from "zod";
import { evaluate, maxLength } from "./evaluate.ts";
import { constants, functions } from "./functions.ts";

const parameters = z.strictObject({
  expression: z.string().max(maxLength).describe('such as "(2 + 3) * sqrt(16)", "2^10", "15% * 80", "200 + 10%"'),
});

export default definePlugin({
  name: "calculator",
  kind: "tool",
  description: "Arithmetic, evaluated by its own parser",
  options: z.strictObject({ ...toolOptions }),
  create: (options, context) =>
    defineTool({
      ...fromToolOptions(options),
      name: context.name,
      description: [
        "Evaluates an arithmetic expression: + - * / ^ (power), % (remainder between two numbers, else percent), ! and parentheses.",
        `Functions: ${Object.keys(functions).join(", ")}. Constants: ${Object.keys(constants).join(", ")}. Angles are radians.`,
        '"200 + 10%" adds ten percent of 200.',
      ].join(" "),
      input: parameters,
      effect: "pure",
      call: ({ expression }) => ({ expression, result: evaluate(expression) }),
    }),
});
