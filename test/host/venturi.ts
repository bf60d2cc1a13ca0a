import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog } from "../../src/core/ports/log.ts";
import { openVenturi, type Venturi } from "../../src/index.ts";

/** Venturi in this process over a config of a few lines; the folder goes when it is closed. */
export async function venturiOf(yaml: string): Promise<Venturi & { folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), "venturi-"));
  const configFile = join(folder, "venturi.yaml");
  const rest = "journal: { type: memory }\nchannels: {}\ntelemetry: off\n";
  await writeFile(configFile, `version: 1\n${rest}${yaml}`);
  const venturi = await openVenturi({ configFile, env: process.env, log: silentLog });
  return {
    ...venturi,
    folder,
    close: async () => {
      await venturi.close();
      await rm(folder, { recursive: true });
    },
  };
}
