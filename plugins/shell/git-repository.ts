import { execFile } from "node:child_process";
import { lstat, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { Refusal } from "./grammar.ts";
import { isInside, type Jail } from "./jail.ts";

const run = promisify(execFile);

/** Override the repository's settings: no hook, pager, editor, monitor, signature program or transport is started. */
const settings: readonly (readonly [string, string])[] = [
  ["safe.bareRepository", "explicit"],
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["core.attributesFile", "/dev/null"],
  ["core.excludesFile", "/dev/null"],
  ["core.pager", "cat"],
  ["core.editor", "true"],
  ["core.sshCommand", "false"],
  ["protocol.allow", "never"],
  ["commit.gpgSign", "false"],
  ["tag.gpgSign", "false"],
  ["log.showSignature", "false"],
  ["merge.verifySignatures", "false"],
  ["gpg.program", "false"],
  ["gpg.openpgp.program", "false"],
  ["gpg.x509.program", "false"],
  ["gpg.ssh.program", "false"],
  ["submodule.recurse", "false"],
  ["status.submoduleSummary", "false"],
  ["diff.submodule", "short"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
];

/** The same on every system, whatever the service's user has configured. */
export const gitEnvironment: Readonly<Record<string, string>> = {
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_SYSTEM: "/dev/null",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
  GIT_OPTIONAL_LOCKS: "0",
  GIT_ALLOW_PROTOCOL: "",
  GIT_NO_LAZY_FETCH: "1",
  GIT_PAGER: "cat",
  GIT_EDITOR: "true",
  GIT_SEQUENCE_EDITOR: "true",
  GIT_CONFIG_COUNT: String(settings.length),
  ...Object.fromEntries(
    settings.flatMap(([key, value], at) => [
      [`GIT_CONFIG_KEY_${at}`, key],
      [`GIT_CONFIG_VALUE_${at}`, value],
    ]),
  ),
};

/** What a repository's config may set: nothing that names a program, a file or another location. */
const harmless = [
  /^core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf)$/,
  /^core\.(?:quotepath|abbrev|compression|untrackedcache|preloadindex|checkstat|trustctime|whitespace|commentchar|sparsecheckout.*)$/,
  /^extensions\.objectformat$/,
  /^(?:user|author|committer)\.(?:name|email)$/,
  /^remote\..*\.(?:url|pushurl|fetch|push|tagopt|prune|mirror)$/s,
  /^branch\..*\.(?:remote|merge|rebase|pushremote)$/s,
  /^submodule\..*\.(?:url|active)$/s,
  /^(?:init\.defaultbranch|push\.default|pull\.(?:rebase|ff)|merge\.(?:ff|conflictstyle|renames)|lfs\.repositoryformatversion)$/,
  /^diff\.(?:algorithm|renames|context|colormoved|noprefix|mnemonicprefix|wserrorhighlight)$/,
  /^(?:color|advice|column)\..*$/s,
];

export interface Repository {
  /**
   * Names the repository, so that git does not discover another one: a bare one among the files, or one above the workspace.
   */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Finds the repository of a workspace folder and verifies that nothing in it starts a program or leads outside: config, links,
 * alternates. `worktree`: the subcommand would recurse into submodules.
 */
export async function openRepository(
  git: string,
  place: { readonly jail: Jail; readonly directory: string },
  { worktree }: { readonly worktree: boolean },
): Promise<Repository> {
  const folder = await findRepository(place.jail, place.directory);
  const top = dirname(folder);
  for (const name of [
    "commondir",
    "gitdir",
    "config.worktree",
    "objects/info/alternates",
    "objects/info/http-alternates",
  ]) {
    if ((await lstat(join(folder, name)).catch(() => undefined)) !== undefined) {
      throw new Refusal(`the repository has a file .git/${name}, which leads to another place`);
    }
  }
  await refuseLinks(folder);
  const environment = { GIT_DIR: folder, GIT_WORK_TREE: top };
  await checkConfig(git, folder);
  if (worktree) await refuseSubmodules(git, environment);
  return { environment };
}

async function findRepository(jail: Jail, directory: string): Promise<string> {
  for (let at = directory; isInside(jail, at); at = dirname(at)) {
    const folder = join(at, ".git");
    const stats = await lstat(folder).catch(() => undefined);
    if (stats?.isDirectory()) return folder;
    if (stats !== undefined) throw new Refusal(".git is not a folder: the repository is elsewhere");
  }
  throw new Refusal("there is no git repository in this folder of the workspace");
}

/** Git writes through links in its folder. Objects are checked only two levels deep: they are never opened for writing. */
async function refuseLinks(folder: string, depth = Number.POSITIVE_INFINITY): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isSymbolicLink()) throw new Refusal(`the repository has a link among its own files: ${entry.name}`);
    if (!entry.isDirectory() || depth <= 1) continue;
    await refuseLinks(join(folder, entry.name), entry.name === "objects" ? 2 : depth - 1);
  }
}

async function checkConfig(git: string, folder: string): Promise<void> {
  const argv = ["config", "--file", join(folder, "config"), "--no-includes", "--list", "--name-only", "-z"];
  const { stdout } = await run(git, argv, { cwd: "/", env: { ...gitEnvironment, LANG: "C" }, timeout: 5_000 }).catch(
    () => {
      throw new Refusal("the repository's config cannot be read");
    },
  );
  for (const key of stdout.split("\0")) {
    if (key !== "" && !harmless.some((pattern) => pattern.test(key))) {
      throw new Refusal(
        `the repository's config sets ${key}, which git may act on; only a git with arguments: any takes it`,
      );
    }
  }
}

async function refuseSubmodules(git: string, environment: Readonly<Record<string, string>>): Promise<void> {
  const options = {
    cwd: "/",
    env: { ...gitEnvironment, ...environment, LANG: "C" },
    timeout: 10_000,
    maxBuffer: 256 * 1_048_576,
  };
  const { stdout } = await run(
    git,
    ["-C", environment.GIT_WORK_TREE ?? "/", "ls-files", "--stage", "-z"],
    options,
  ).catch(() => {
    throw new Refusal("the repository's index cannot be read");
  });
  if (/(?:^|\0)160000 /.test(stdout)) {
    throw new Refusal("the repository has submodules, whose configs git would act on; only reading is possible here");
  }
}
