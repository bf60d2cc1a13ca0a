import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Log, messageOf, VenturiError } from "venturi/plugin";
import { findBubblewrap } from "./bubblewrap.ts";
import { findProgram } from "./commands.ts";
import type { Jail } from "./jail.ts";
import { probe, type Sandbox } from "./launch.ts";
import type { ShellOptions } from "./options.ts";

const advice = [
  "Install it (apt-get, apk or dnf install bubblewrap) where this user may make user namespaces",
  "or name the command of another sandbox, such as sandbox: [docker, exec, -i, -w, '{directory}', box]",
  "or say sandbox: approve, and a person approves each command line",
].join("; ");

/** Undefined if a person approves each call instead. Throws if commands would run unrestricted. */
export async function findSandbox(options: ShellOptions, jail: Jail, log: Log): Promise<Sandbox | undefined> {
  if (options.sandbox === "approve") return undefined;
  if (options.sandbox !== "bubblewrap") return await openOther(options.sandbox, options, jail);
  try {
    return await findBubblewrap(options, jail, log);
  } catch (thrown) {
    const reason = messageOf(thrown);
    throw invalid(`commands run in a sandbox only, and bubblewrap cannot be used: ${reason}. ${advice}`, thrown);
  }
}

/** A sandbox command given by the operator, to which the command is appended. */
async function openOther(given: readonly string[], options: ShellOptions, jail: Jail): Promise<Sandbox> {
  const [first = "", ...rest] = given;
  const program = await findProgram(first, options.path, jail.root);
  const sandbox: Sandbox = {
    async wrap(inner, argv, directory) {
      const fill = (text: string) => text.replaceAll("{directory}", directory).replaceAll("{workspace}", jail.root);
      return { program, argv: [...rest.map(fill), inner, ...argv], async [Symbol.asyncDispose]() {} };
    },
  };
  await checkFence(sandbox, jail);
  return sandbox;
}

/** Refuses a sandbox that exposes this machine's files or the service's environment. */
async function checkFence(sandbox: Sandbox, { root }: Jail): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "venturi-fence-"));
  const token = randomUUID();
  const environment = (await readFile("/proc/self/environ", "utf8").catch(() => "")).slice(0, 256);
  try {
    await writeFile(join(folder, "token"), token);
    const text = 'cat "$1" "/proc/$2/environ" 2>/dev/null; echo ran';
    await using wrapped = await sandbox.wrap(
      "/bin/sh",
      ["-c", text, "sh", join(folder, "token"), `${process.pid}`],
      root,
    );
    const seen = await probe(wrapped, { cwd: root, env: { PATH: "/usr/local/bin:/usr/bin:/bin" } }).catch((thrown) => {
      throw invalid(`the sandbox cannot be used: ${messageOf(thrown)}`, thrown);
    });
    if (!seen.endsWith("ran\n")) throw invalid("the sandbox does not run the command that is appended to it");
    if (seen.includes(token)) throw invalid("this is no sandbox: it shows files outside the workspace");
    if (environment !== "" && seen.includes(environment))
      throw invalid("this is no sandbox: it shows the service's environment");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const invalid = (message: string, cause?: unknown) =>
  new VenturiError("tool.create", "config_invalid", message, cause === undefined ? {} : { cause });
