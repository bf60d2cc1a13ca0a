// The tool of bench/scale.mjs.
export default {
  description: "Looks up the weather",
  parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
  effect: "pure",
  call: () => "It is 18 degrees and sunny.",
};
