import { ChildProcess } from "node:child_process";

// Loaded by mocha before the tests. A test whose hook timed out never stops what it started: the processes that are left then
// end with this one.
const running = new Set<ChildProcess>();
const prototype = ChildProcess.prototype as unknown as { spawn(this: ChildProcess, options: object): number }; // every way to start one calls it
const { spawn } = prototype;
prototype.spawn = function (options) {
  const failure = spawn.call(this, options);
  running.add(this);
  this.once("exit", () => running.delete(this));
  return failure;
};
process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});
