export default {
  description: "Poison",
  parameters: { type: "object", properties: {} },
  effect: "pure",
  call: () => /^(a+)+$/.test("a".repeat(60) + "!"),
};