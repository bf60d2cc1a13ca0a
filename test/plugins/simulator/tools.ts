/** Two tools as JSON Schema, for every wire to dress in its own way. */
export const clock = {
  name: "clock",
  description: "Tells the current date and time.",
  parameters: {
    type: "object" as const,
    properties: { timeZone: { type: "string" } },
    required: [] as string[],
    additionalProperties: false,
  },
};

export const calculator = {
  name: "calculator",
  description: "Evaluates an arithmetic expression.",
  parameters: {
    type: "object" as const,
    properties: { expression: { type: "string" } },
    required: ["expression"],
    additionalProperties: false,
  },
};

export const both = [clock, calculator];
export const asksForBoth = "What time is it in Tokyo, and what is 17 * 23?";
