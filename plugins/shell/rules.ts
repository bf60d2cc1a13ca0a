/** What is known of a program, so that "may run it" does not come to mean "may run anything". */
export interface Rule {
  /** Runs, or fetches, whatever its arguments say. Only with a fixed argv or by an explicit `arguments: any`. */
  readonly runsArguments?: boolean;
  /** The first argument must be one of these. */
  readonly subcommands?: ReadonlySet<string>;
  /** Options that run other programs, follow links or name files by a side door. */
  readonly deniedOptions?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

export const ruleOf = (program: string): Rule => {
  const plain = program.replace(/[\d.]+$/, ""); // python3.12, perl5.36
  return rules.get(program) ?? rules.get(plain) ?? {};
};

const words = (text: string): string[] => text.trim().split(/\s+/);

/** Each of these was seen to run a program, open a file or reach a host that its arguments name. */
const runners = words(`
  sh bash dash zsh ksh mksh fish csh tcsh ash busybox toybox rbash pwsh
  env xargs parallel sudo su doas runuser chroot unshare nsenter setsid nohup nice ionice timeout time watch stdbuf script
  expect strace ltrace gdb taskset flock systemd-run at batch crontab entr
  node nodejs deno bun npm npx pnpm yarn python pypy perl ruby php lua tclsh guile java jshell groovy scala R Rscript julia
  awk gawk mawk nawk sed ed ex vi vim nvim emacs nano less more most man info
  make cmake ninja cargo go gcc cc g++ clang ld rustc dotnet mvn gradle pip pipx uv gem bundle composer apt apt-get dpkg rpm yum
  curl wget nc ncat netcat socat telnet ftp sftp ssh scp rsync openssl aws gcloud kubectl docker podman helm terraform
  tar zip unzip 7z cpio ar patch ln ps mount umount dd install sqlite psql mysql redis-cli
`);

const git: Rule = {
  subcommands: new Set(
    words(`
      status log diff show branch tag blame ls-files ls-tree rev-parse rev-list describe shortlog cat-file grep
      add commit checkout switch restore stash reset rm mv merge cherry-pick revert merge-base name-rev show-ref
    `),
  ),
  deniedOptions: words(`
    --upload-pack --receive-pack --exec --exec-path --ext-diff --textconv --filters --open-files-in-pager --output
    --output-directory --config --config-env --git-dir --work-tree --template --separate-git-dir --no-index --contents
    --pathspec-from-file --file --gpg-sign --edit --edit-description --strategy -O -F -S -s --batch-command
  `),
  // Hooks, pagers, editors, file system monitors and repositories above the workspace are other people's programs and data.
  environment: {
    GIT_TERMINAL_PROMPT: "0",
    GIT_PAGER: "cat",
    GIT_EDITOR: "true",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_COUNT: "4",
    GIT_CONFIG_KEY_0: "core.hooksPath",
    GIT_CONFIG_VALUE_0: "/dev/null",
    GIT_CONFIG_KEY_1: "core.fsmonitor",
    GIT_CONFIG_VALUE_1: "false",
    GIT_CONFIG_KEY_2: "protocol.allow",
    GIT_CONFIG_VALUE_2: "never",
    GIT_CONFIG_KEY_3: "commit.gpgSign",
    GIT_CONFIG_VALUE_3: "false",
  },
};

const denying = (text: string): Rule => ({ deniedOptions: words(text) });

const rules: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ...runners.map((name): [string, Rule] => [name, { runsArguments: true }]),
  ["git", git],
  [
    "find",
    denying(
      "-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls -files0-from --files0-from -L -H -follow",
    ),
  ],
  ["grep", denying("-R --dereference-recursive")],
  ["rg", denying("--pre --pre-glob --hostname-bin -L --follow -z --search-zip")],
  ["ls", denying("-L -H --dereference --dereference-command-line --dereference-command-line-symlink-to-dir")],
  ["tree", denying("-l -o --fromfile --fromtabfile")],
  ["du", denying("-L -H -D --dereference --dereference-args --files0-from")],
  ["wc", denying("--files0-from")],
  ["sort", denying("-o --output --compress-program -T --temporary-directory --files0-from")],
  ["split", denying("--filter")],
  ["cp", denying("-L -H --dereference -s --symbolic-link -l --link")],
  ["file", denying("-f --files-from -C --compile -z -Z -L --dereference")],
  ["date", denying("-s --set -f --file")],
  ["diff", denying("--to-file --from-file")],
  ["stat", denying("-L --dereference")],
]);
