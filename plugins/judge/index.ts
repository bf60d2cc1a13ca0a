import { didYouMean } from "venturi/internal";
import { definePlugin, type Judgement, terminalOf, VenturiError } from "venturi/plugin";
import { z } from "zod";

/** Judges may have guards of their own, up to this depth. */
const deepest = 4;

export default definePlugin({
  name: "judge",
  kind: "guard",
  description: "Has an agent judge texts while the run goes on",
  options: z.strictObject({
    agent: z.string().describe("the agent that judges: its answer begins with `allow` or `block`, then its reason"),
    most: z
      .number()
      .int()
      .positive()
      .default(50_000)
      .describe("maximum characters sent to the judge; of a longer text, the end"),
  }),
  check: ({ agent }, { agents }) =>
    agents.includes(agent)
      ? []
      : [{ path: ["agent"], message: `"${agent}" is not among the agents${didYouMean(agent, agents)}` }],
  create: ({ agent, most }, { name, runs }) => ({
    async judge(text, { run, depth, signal }) {
      if (depth >= deepest) throw new VenturiError("guard.judge", "config_invalid", `${name}: judges judge each other`);
      const { run: judging } = await runs().start({
        agent,
        input: { text: text.length > most ? text.slice(-most) : text },
        parent: { run, call: `guard.${name}`, depth: depth + 1 },
      });
      const end = await terminalOf(runs().follow(judging, { signal, channel: "tool" }));
      signal.throwIfAborted();
      if (end?.type === "run.finished") return judgementIn(end.output, name);
      const why = end === undefined ? "it has no outcome" : `${end.error.code}: ${end.error.err}`;
      throw new VenturiError("guard.judge", "plugin_failed", `${name}: the run ${judging} of the judge failed: ${why}`);
    },
  }),
});

/** Anything but a clear yes or no is a failure of the judge, not a yes. */
function judgementIn(answer: string, guard: string): Judgement {
  const said = answer.trimStart();
  const word = said.slice(0, 5).toLowerCase();
  const reason = said
    .slice(5)
    .replace(/^[\s:.,-]{1,10}/, "")
    .trim()
    .slice(0, 500);
  const told = reason === "" ? {} : { reason };
  if (word === "allow") return { ok: true, ...told };
  if (word === "block") return { ok: false, ...told };
  throw new VenturiError(
    "guard.judge",
    "plugin_failed",
    `${guard}: the judge answered neither allow nor block, but: ${said.slice(0, 80)}`,
  );
}
