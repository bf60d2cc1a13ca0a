import { go, to } from "../state/router.ts";
import { client } from "../state/session.ts";
import { shortRun } from "../text/words.ts";
import { toast } from "./announce.tsx";
import { confirm } from "./confirm.tsx";

/** Asks before erasing an ended run: events, bytes and digest. */
export const askToErase = (run: string): void =>
  confirm({
    title: "Erase this run?",
    text: "Its events, the bytes that were kept and its place in search go for good. Forks of it stay.",
    word: "Erase",
    run: async () => {
      await client.value.request({ op: "run.remove", method: "DELETE", path: `/v1/runs/${encodeURIComponent(run)}` });
      toast(`${shortRun(run)} was erased`);
      go(to("runs"));
    },
  });
