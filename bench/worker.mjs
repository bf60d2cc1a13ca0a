// One subject in one process, so that its processor time is its own. Takes commands over IPC.
const [, , subject, baseURL] = process.argv;
const files = { floor: "./floor.mjs", "ai-sdk": "./ai-sdk.mjs" };
const { run } = await (await import(files[subject] ?? "./adapter.mjs")).default({ baseURL, variant: subject });

process.on("message", async ({ model, count, concurrent, atLeast }) => {
  try {
    globalThis.gc?.();
    const before = process.cpuUsage();
    const start = performance.now();
    let done = 0;
    while (done < count || performance.now() - start < (atLeast ?? 0)) {
      const together = Array.from({ length: concurrent ?? 1 }, () => once(model));
      await Promise.all(together);
      done += together.length;
    }
    const wall = performance.now() - start;
    const { user, system } = process.cpuUsage(before);
    process.send({ cpu: (user + system) / 1000 / done, wall: wall / done, done });
  } catch (error) {
    process.send({ error: String(error?.stack ?? error) });
  }
});
process.on("disconnect", () => process.exit());
process.send("ready");

async function once(model) {
  let called = 0;
  let length = 0;
  await run(model, {
    text: (piece) => {
      length += piece.length;
    },
    tool: (input) => {
      called++;
      if (input.city !== "Paris") throw new Error("the arguments did not arrive");
      return "It is 18 degrees and sunny.";
    },
  });
  if (length === 0 || (called !== 1 && !model.startsWith("text"))) throw new Error(`${model}: ${length} ${called}`);
}
