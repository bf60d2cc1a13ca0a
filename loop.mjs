export default {
  description: "Poison",
  parameters: { type: "object", properties: {} },
  effect: "pure",
  call: function turnsForEver() { for (;;); },
};