import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { openFile } from "./folder.ts";

const child = fileURLToPath(new URL("./kill-child.js", import.meta.url));

/** Kills a writing process so many times; answers how many events had been acknowledged and how many of those are gone. */
export async function killRepeatedly(file: string, times: number): Promise<{ acknowledged: number; lost: number }> {
  const heads = new Map<string, number>();
  for (let round = 0; round < times; round++) {
    const writer = spawn(process.execPath, ["--no-warnings", child, file, `kill-${round}`]);
    let rest = "";
    let lines = 0;
    const enough = 1 + Math.floor(Math.random() * 400);
    writer.stdout.setEncoding("utf8").on("data", (text: string) => {
      const parts = (rest + text).split("\n");
      rest = parts.pop() ?? "";
      for (const part of parts) {
        const [run = "", head = "0"] = part.split(" ");
        heads.set(run, Number(head));
        if (++lines === enough) writer.kill("SIGKILL");
      }
    });
    await once(writer, "close");
  }
  const journal = await openFile(file);
  let acknowledged = 0;
  let lost = 0;
  for (const [run, head] of heads) {
    const events = await journal.read(run, 0, 1_000_000);
    events.forEach((event, index) => {
      if (event.seq !== index + 1) throw new Error(`${run} has event ${event.seq} in place ${index + 1}`);
    });
    acknowledged += head;
    lost += Math.max(0, head - events.length);
  }
  await journal.close();
  return { acknowledged, lost };
}
