import { execFileSync } from "node:child_process";
import { linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export const secret = "SECRET-7f3a9c";

export interface Workspace {
  /** Holds the root and, beside it, what must stay out of reach. */
  readonly base: string;
  readonly root: string;
  readonly outside: string;
  remove(): void;
}

/** A root with files, links of every kind out of it, and a secret beside it. */
export function makeWorkspace(): Workspace {
  const base = mkdtempSync(join(tmpdir(), "venturi-files-"));
  const root = join(base, "root");
  const outside = join(base, "outside");
  mkdirSync(join(root, "src/deep"), { recursive: true });
  mkdirSync(join(root, ".git/hooks"), { recursive: true });
  mkdirSync(join(outside, "inner"), { recursive: true });
  mkdirSync(join(base, "root-twin"));
  writeFileSync(join(base, "root-twin/secret.txt"), secret);
  writeFileSync(join(outside, "secret.txt"), `${secret}\n`);
  writeFileSync(join(outside, "inner/secret.txt"), `${secret}\n`);
  writeFileSync(join(root, "readme.md"), "# Hello\nfind me here\nlast line\n");
  writeFileSync(join(root, "src/main.ts"), "const answer = 42;\nexport { answer };\n");
  writeFileSync(join(root, "src/deep/note.txt"), "Find Me Too\n");
  writeFileSync(join(root, ".env"), `KEY=${secret}\n`);
  writeFileSync(join(root, "server.PEM"), secret);
  writeFileSync(join(root, ".git/config"), secret);
  writeFileSync(join(root, "image.bin"), Buffer.from([1, 2, 0, 3]));
  writeFileSync(join(root, "latin1.txt"), Buffer.from([0x63, 0x61, 0x66, 0xe9]));
  symlinkSync(join(outside, "secret.txt"), join(root, "link-file"));
  symlinkSync(outside, join(root, "link-folder"));
  symlinkSync("../outside", join(root, "link-relative"));
  symlinkSync("../../outside/secret.txt", join(root, "src/link-up"));
  symlinkSync("link-folder", join(root, "link-to-link"));
  symlinkSync("loop-b", join(root, "loop-a"));
  symlinkSync("loop-a", join(root, "loop-b"));
  // Stands in for "/": should a guard ever fail, the test that finds it must not write to the real one.
  const slash = join(base, "slash");
  mkdirSync(join(slash, "etc"), { recursive: true });
  mkdirSync(join(slash, "proc/self/fd"), { recursive: true });
  mkdirSync(join(slash, "tmp"));
  for (const file of ["etc/passwd", "proc/self/environ", "proc/self/fd/0"]) writeFileSync(join(slash, file), secret);
  symlinkSync(slash, join(root, "link-slash"));
  symlinkSync(join(slash, "proc/self"), join(root, "link-proc"));
  writeFileSync(join(outside, "inner/twin.txt"), "one content, two names\n");
  linkSync(join(outside, "inner/twin.txt"), join(root, "second-name.txt"));
  execFileSync("mkfifo", [join(root, "pipe")]);
  return { base, root, outside, remove: () => rmSync(base, { recursive: true, force: true }) };
}
