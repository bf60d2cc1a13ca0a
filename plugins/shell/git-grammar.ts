import { type Grammar, grammar, type Operands } from "./grammar.ts";

/** A git subcommand that runs no other program, in a repository accepted by checkRepository. */
export interface GitGrammar extends Grammar {
  /** Reads or changes the working tree, and would recurse into submodules with their own configs. */
  readonly worktree: boolean;
}

const diffing = `
  -p -u -s --patch --no-patch -U:number --unified:number --raw --patch-with-stat --stat?:text --numstat --shortstat --dirstat?:text --summary
  --name-only --name-status --color?:word --no-color --color-words?:text --word-diff?:word -M?:number -C?:number -R -a -b -w -z -W
  --find-renames?:number --find-copies?:number --no-renames --minimal --patience --histogram --diff-algorithm:word --diff-filter:word
  --ignore-space-change --ignore-all-space --ignore-blank-lines --ignore-space-at-eol --text --binary --full-index --abbrev?:number
  --function-context --no-prefix --check --exit-code --quiet --relative -S:text -G:text --pickaxe-all --pickaxe-regex
`;
const history = `
  ${diffing} -# -n:number --max-count:number --skip:number --since:text --after:text --until:text --before:text --author:text
  --committer:text --grep:text -i --all-match --invert-grep --all --branches?:text --tags?:text --remotes?:text --merges --no-merges
  --first-parent --reverse --follow --oneline --pretty?:format --format:format --date:text --graph --decorate?:word --no-decorate
  --abbrev-commit --no-abbrev-commit --topo-order --date-order --author-date-order --left-right --cherry-pick --cherry-mark --boundary
  --full-history --simplify-merges --ancestry-path --no-notes -L:text -m -c --cc -g --walk-reflogs
`;
const noPrograms = ["--no-ext-diff", "--no-textconv"];
const sequencing = "--abort --continue --quit -n --no-commit --no-edit -X:word";
const picking = `${sequencing} --skip -x -m:number --mainline:number --allow-empty`;
const sorting =
  "--sort:text --format:format --contains --no-contains --merged --no-merged --points-at:revision -i --ignore-case --color?:word --column?:word";

const anything: Partial<Operands> = { rest: "revision" };

const read = (options: string, always: readonly string[] = []): GitGrammar => ({
  ...grammar(options, anything, { always, portable: true }),
  worktree: false,
});
const change = (options: string, operands: Partial<Operands> = anything): GitGrammar => ({
  ...grammar(options, operands, { portable: true }),
  worktree: true,
});

/** The options of parse-options and diff; each was reviewed for what it opens or starts. */
export const gitSubcommands: ReadonlyMap<string, GitGrammar> = new Map<string, GitGrammar>([
  [
    "status",
    read(
      "-s --short -b --branch --porcelain?:word --long -v --verbose -u?:word --untracked-files?:word --ignored?:word -z --ahead-behind --no-ahead-behind --renames --no-renames --show-stash --column?:word --no-column",
      ["--ignore-submodules=all"],
    ),
  ],
  [
    "diff",
    read(`${diffing} --cached --staged --merge-base -1 -2 -3 --base --ours --theirs`, [
      ...noPrograms,
      "--ignore-submodules=all",
    ]),
  ],
  ["log", read(history, noPrograms)],
  ["show", read(history, noPrograms)],
  [
    "shortlog",
    read(
      "-s -n -e -c --summary --numbered --email --committer --since:text --after:text --until:text --before:text --all --no-merges --group:word",
    ),
  ],
  [
    "blame",
    read(
      "-b -l -t -f -n -s -e -w -p -c -L:text --root --show-name --show-number --show-email --porcelain --line-porcelain --incremental --abbrev:number --date:text -M?:number -C?:number --since:text --first-parent",
      ["--no-textconv"],
    ),
  ],
  ["rev-list", read(`--count --objects --parents --children --timestamp ${history}`)],
  [
    "rev-parse",
    read(
      "--verify -q --quiet --short?:number --abbrev-ref?:word --symbolic --symbolic-full-name --show-toplevel --show-prefix --show-cdup --git-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository --all --branches?:text --tags?:text --remotes?:text --revs-only --no-revs --flags --no-flags",
    ),
  ],
  [
    "describe",
    read(
      "--all --tags --contains --abbrev:number --long --always --match:text --exclude:text --first-parent --exact-match --candidates:number",
    ),
  ],
  ["merge-base", read("-a --all --octopus --is-ancestor --independent --fork-point")],
  ["name-rev", read("--tags --refs:text --exclude:text --all --name-only --always")],
  [
    "show-ref",
    read("--head --heads --branches --tags --verify -d --dereference -s --hash?:number --abbrev?:number -q --quiet"),
  ],
  [
    "ls-files",
    read(
      "-c -d -o -i -s -u -k -m -t -v -z --cached --deleted --others --ignored --stage --unmerged --killed --modified --directory --exclude-standard --full-name --error-unmatch --abbrev?:number --eol --deduplicate",
    ),
  ],
  [
    "ls-tree",
    read(
      "-d -r -t -l -z --long --name-only --name-status --object-only --full-name --full-tree --abbrev?:number --format:text",
    ),
  ],
  ["cat-file", read("-t -s -e -p")],
  [
    "grep",
    {
      ...read(
        "-i --ignore-case -v --invert-match -w --word-regexp -a --text -I -n --line-number --column -l --files-with-matches --name-only -L --files-without-match -c --count -o --only-matching -q --quiet -E --extended-regexp -G --basic-regexp -P --perl-regexp -F --fixed-strings -e:text --and --or --not --all-match -A:number -B:number -C:number --after-context:number --before-context:number --context:number -W --function-context -p --show-function -h -H --full-name -z --null --color?:word --no-color --break --heading --cached --untracked --max-depth:number -m:number --max-count:number -# --threads:number -r --recursive --no-recursive",
      ),
      operands: { first: ["text"], rest: "revision", min: 1, replacedBy: ["-e"] },
    },
  ],
  [
    "branch",
    read(
      `-a -r -v -q -d -D -m -M -c -f -l --all --remotes --verbose --quiet --delete --move --copy --force --list --show-current --abbrev?:number --no-abbrev --no-track ${sorting}`,
    ),
  ],
  ["tag", read(`-l -n?:number -d -a -f -m:text --list --delete --annotate --force --message:text ${sorting}`)],
  [
    "add",
    change(
      "-n -v -f -u -A -N --dry-run --verbose --force --update --all --no-all --intent-to-add --ignore-errors --refresh --renormalize --chmod:word --sparse",
    ),
  ],
  [
    "commit",
    change(
      "-a -m:text -q -v -n -o -i --all --message:text --quiet --verbose --amend --allow-empty --allow-empty-message --no-edit --author:text --date:text --dry-run --short --porcelain --long --only --include --signoff --no-signoff --reset-author --no-verify --no-gpg-sign --cleanup:word --fixup:word --squash:revision",
    ),
  ],
  [
    "checkout",
    change(
      "-b:revision -B:revision -f -q -d -t -l -2 -3 --force --quiet --detach --track --no-track --orphan:revision --ours --theirs --no-progress --overwrite-ignore --no-guess",
    ),
  ],
  [
    "switch",
    change(
      "-c:revision -C:revision -d -f -q -t --create:revision --force-create:revision --detach --force --discard-changes --quiet --track --no-track --orphan:revision --no-guess",
    ),
  ],
  [
    "restore",
    change(
      "-s:revision -S -W -q -2 -3 --source:revision --staged --worktree --quiet --ours --theirs --ignore-unmerged --overlay --no-overlay",
    ),
  ],
  ["reset", change("-q --quiet --mixed --soft --hard --merge --keep -N --intent-to-add --refresh --no-refresh")],
  [
    "stash",
    change(
      "-u -a -k -q -m:text -S --include-untracked --all --keep-index --no-keep-index --quiet --message:text --staged --index --only-untracked --oneline --stat --name-only --name-status",
    ),
  ],
  ["rm", change("-f -n -q -r --force --dry-run --quiet --cached --ignore-unmatch")],
  ["mv", change("-f -k -n -v --force --dry-run --verbose")],
  [
    "merge",
    change(
      `${sequencing} -m:text -q -v --quiet --verbose --ff --no-ff --ff-only --commit --squash --no-squash --stat --no-stat --log?:number --no-log --message:text --signoff --allow-unrelated-histories --no-verify --into-name:text`,
    ),
  ],
  ["cherry-pick", change(`${picking} --ff --allow-empty-message --keep-redundant-commits`)],
  ["revert", change(picking)],
]);
