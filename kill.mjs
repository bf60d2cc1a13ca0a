export default {
  description: "Poison",
  parameters: { type: "object", properties: {} },
  effect: "pure",
  call: () => process.kill(process.pid, "SIGKILL"),
};