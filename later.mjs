export default {
  description: "Poison",
  parameters: { type: "object", properties: {} },
  effect: "pure",
  call: async () => { await new Promise((next) => setTimeout(next, 50)); for (;;); },
};