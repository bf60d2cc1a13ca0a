import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** A folder of its own for each test of the suite that calls this. All go after the last, when nothing is open in them any more. */
export function testFolder(): { path: (name: string) => string; write: (files: Record<string, string>) => string } {
  let folder = "";
  const folders: string[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "venturi-"));
    folders.push(folder);
  });
  after(() => {
    for (const made of folders) rmSync(made, { recursive: true, force: true });
  });
  return {
    path: (name) => join(folder, name),
    /** Writes the files and answers the path of the first. */
    write(files) {
      for (const [name, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, name)), { recursive: true });
        writeFileSync(join(folder, name), text);
      }
      return join(folder, Object.keys(files)[0] ?? "");
    },
  };
}

export const sample = (name: string): string => fileURLToPath(new URL(`./sample/${name}.js`, import.meta.url));

/** What every config of these tests begins with: plugins of all four kinds that need nothing. */
export const preamble = `version: 1
plugins: [${["provider", "tool", "channel", "journal"].map((kind) => JSON.stringify(sample(kind))).join(", ")}]
journal: { type: sample-journal }
channels: { sample: {} }
`;
