import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";

export interface Played {
  readonly file: string;
  readonly out: string;
  readonly error: string | undefined;
}

// Runs programs one after the other in this process, which loads Venturi once, and prints what each said.
const write = process.stdout.write.bind(process.stdout);
const played: Played[] = [];
for (const file of process.argv.slice(2)) {
  let out = "";
  let error: string | undefined;
  process.chdir(dirname(file));
  process.stdout.write = (piece: Uint8Array | string) => {
    out += piece;
    return true;
  };
  try {
    await import(pathToFileURL(file).href);
  } catch (thrown) {
    error = inspect(thrown);
  }
  played.push({ file, out, error });
}
write(JSON.stringify(played), () => process.exit());
