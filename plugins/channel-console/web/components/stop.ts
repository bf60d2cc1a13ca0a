import type { LiveRun } from "../state/live.ts";
import { client, mayHere } from "../state/session.ts";
import { shortRun } from "../text/words.ts";
import { confirm } from "./confirm.tsx";

export const stop = async (live: LiveRun): Promise<void> => {
  await client.value
    .run(live.id)
    .cancel({ reason: "stopped in the console" })
    .catch(() => {});
};

export const askToStop = (live: LiveRun | undefined): void => {
  if (live === undefined || live.whole.endedAt !== undefined || !mayHere("steer")) return;
  const text = `${live.whole.agent} ${shortRun(live.id)} ends here. What it has done stays.`;
  confirm({ title: "Stop this run?", text, word: "Stop the run", run: () => void stop(live) });
};
