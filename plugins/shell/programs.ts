import { type Grammar, grammar, type Kind, type Operands } from "./grammar.ts";

const help = "--help --version";
const files: Partial<Operands> = { rest: "file" };
const paths: Partial<Operands> = { rest: "path" };
const texts: Partial<Operands> = { rest: "text" };
const exactly = (...first: Kind[]): Partial<Operands> => ({ first, min: first.length });
const upTo = (...first: Kind[]): Partial<Operands> => ({ first });
const sums = grammar(`${help} -b --binary -t --text --tag -z --zero`, files);

/**
 * Programs that cannot run another one, with the options that neither follow links, nor write anywhere but to an operand, nor
 * read file names from a file. Long names are GNU's; a program that does not know one reports it.
 */
export const programs: ReadonlyMap<string, Grammar> = new Map<string, Grammar>([
  [
    "cat",
    grammar(
      `${help} -A -b -e -E -n -s -t -T -v --show-all --number --number-nonblank --squeeze-blank --show-ends --show-tabs`,
      files,
    ),
  ],
  ["tac", grammar(`${help} -b -s:text --before --separator:text`, files)],
  [
    "head",
    grammar(`${help} -n:number -c:number -q -v -z --lines:number --bytes:number --quiet --silent --verbose -#`, files),
  ],
  [
    "tail",
    grammar(`${help} -n:number -c:number -q -v -z --lines:number --bytes:number --quiet --silent --verbose -#`, files),
  ],
  ["wc", grammar(`${help} -c -m -l -L -w --bytes --chars --lines --words --max-line-length`, files)],
  [
    "nl",
    grammar(
      `${help} -b:text -n:word -s:text -w:number -v:number -i:number --body-numbering:text --number-width:number`,
      files,
    ),
  ],
  ["fold", grammar(`${help} -b -s -w:number --bytes --spaces --width:number`, files)],
  ["rev", grammar("--help --version", files)],
  [
    "cut",
    grammar(
      `${help} -b:text -c:text -d:text -f:text -s -z --bytes:text --characters:text --delimiter:text --fields:text --complement --only-delimited --output-delimiter:text`,
      files,
    ),
  ],
  ["paste", grammar(`${help} -d:text -s -z --delimiters:text --serial`, files)],
  [
    "join",
    grammar(
      `${help} -1:number -2:number -a:number -v:number -e:text -i -j:number -o:text -t:text --header`,
      exactly("file", "file"),
    ),
  ],
  [
    "comm",
    grammar(`${help} -1 -2 -3 --total --check-order --nocheck-order --output-delimiter:text`, exactly("file", "file")),
  ],
  [
    "tr",
    grammar(`${help} -c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1`, {
      first: ["text", "text"],
      min: 1,
    }),
  ],
  // A second operand would be the output file.
  [
    "uniq",
    grammar(
      `${help} -c -d -D -f:number -i -s:number -u -w:number -z --count --repeated --unique --ignore-case --skip-fields:number --skip-chars:number --check-chars:number`,
      upTo("file"),
    ),
  ],
  [
    "sort",
    grammar(
      `${help} -b -d -f -g -i -M -h -n -R -r -V -c -C -k:text -m -s -t:text -u -z --ignore-leading-blanks --dictionary-order --ignore-case --general-numeric-sort --human-numeric-sort --numeric-sort --month-sort --reverse --version-sort --sort:word --key:text --field-separator:text --stable --unique --check?:word --merge --zero-terminated`,
      files,
    ),
  ],
  // Files only: between folders, diff opens the targets of links in them.
  [
    "diff",
    grammar(
      `${help} --normal -q -s -c -C:number -u -U:number -y -W:number -t -i -E -Z -b -w -B -a -d --brief --report-identical-files --context?:number --unified?:number --side-by-side --width:number --left-column --suppress-common-lines --label:text --ignore-case --ignore-trailing-space --ignore-space-change --ignore-all-space --ignore-blank-lines --text --strip-trailing-cr --minimal`,
      exactly("file", "file"),
    ),
  ],
  [
    "cmp",
    grammar(
      `${help} -b -l -s -n:number --print-bytes --verbose --quiet --silent --bytes:number`,
      exactly("file", "file"),
    ),
  ],
  ["md5sum", sums],
  ["sha1sum", sums],
  ["sha256sum", sums],
  ["sha512sum", sums],
  ["b2sum", sums],
  ["cksum", grammar(help, files)],
  [
    "grep",
    grammar(
      `${help} -V -E -F -G -P -e:text -f:file -i -y -v -w -x -c -L -l -m:number -o -q -s -b -H -h -n -T -z -Z -A:number -B:number -C:number -a -I -U -r -# --extended-regexp --fixed-strings --basic-regexp --perl-regexp --regexp:text --file:file --ignore-case --no-ignore-case --invert-match --word-regexp --line-regexp --count --color?:word --colour?:word --files-without-match --files-with-matches --max-count:number --only-matching --quiet --silent --no-messages --byte-offset --with-filename --no-filename --label:text --line-number --initial-tab --null --after-context:number --before-context:number --context:number --text --binary-files:word --exclude:text --exclude-dir:text --include:text --recursive --null-data --line-buffered`,
      { first: ["text"], rest: "path", min: 1, replacedBy: ["-e", "-f", "--regexp", "--file"] },
    ),
  ],
  [
    "rg",
    grammar(
      `${help} -V -e:text -f:file -i -s -S -v -w -x -c -l -m:number -o -q -b -H -I -n -N -A:number -B:number -C:number -a -F -g:text -t:word -T:word -M:number -U -P -r:text -u -. -0 -p -j:number --regexp:text --file:file --ignore-case --case-sensitive --smart-case --invert-match --word-regexp --line-regexp --count --count-matches --files-with-matches --files-without-match --max-count:number --only-matching --quiet --with-filename --no-filename --line-number --no-line-number --after-context:number --before-context:number --context:number --text --fixed-strings --glob:text --iglob:text --type:word --type-not:word --type-list --max-columns:number --max-depth:number --max-filesize:number --multiline --multiline-dotall --pcre2 --replace:text --hidden --no-ignore --no-ignore-vcs --no-heading --heading --column --json --color:word --files --trim --stats --sort:word --sortr:word --null --vimgrep --threads:number --no-messages --passthru --encoding:word`,
      {
        first: ["text"],
        rest: "path",
        min: 0,
        replacedBy: ["-e", "-f", "--regexp", "--file", "--files", "--type-list"],
      },
      { always: ["--no-config", "--no-ignore-parent", "--no-ignore-messages"], portable: true },
    ),
  ],
  [
    "ls",
    grammar(
      `${help} -a -A -b -B -c -C -d -f -g -G -h -i -k -l -m -n -N -o -p -q -Q -r -R -s -S -t -T:number -u -U -v -w:number -x -X -Z -1 -I:text --all --almost-all --author --escape --block-size:word --ignore-backups --directory --group-directories-first --no-group --human-readable --si --hide:text --inode --ignore:text --kibibytes --numeric-uid-gid --literal --hide-control-chars --show-control-chars --quote-name --quoting-style:word --reverse --recursive --size --sort:word --time:word --time-style:text --full-time --width:number --format:word --zero`,
      paths,
    ),
  ],
  [
    "tree",
    grammar(
      `${help} -a -d -f -x -L:number -P:text -I:text -i -q -N -Q -p -u -g -s -h -D -v -t -c -U -r -J -n -A -S --noreport --dirsfirst --filesfirst --prune --ignore-case --matchdirs --filelimit:number --timefmt:text --sort:word --du --si --inodes --device`,
      paths,
    ),
  ],
  [
    "du",
    grammar(
      `${help} -0 -a -b -B:word -c -d:number -h -k -l -m -P -s -S -t:number -x --null --all --apparent-size --block-size:word --bytes --total --max-depth:number --human-readable --inodes --count-links --no-dereference --separate-dirs --si --summarize --threshold:number --time?:word --exclude:text --one-file-system`,
      paths,
    ),
  ],
  ["stat", grammar(`${help} -c:text -t --format:text --printf:text --terse`, paths)],
  [
    "file",
    grammar(
      "--help --version -b -i -k -r -0 -N -E -h --brief --mime --mime-type --mime-encoding --extension --keep-going --raw --no-pad --no-dereference --print0",
      paths,
    ),
  ],
  ["find", findGrammar()],
  [
    "date",
    grammar(
      `${help} -d:text -I?:word -R -u -r:file --date:text --iso-8601?:word --rfc-email --rfc-3339:word --utc --universal --reference:file`,
      upTo("date"),
    ),
  ],
  ["echo", grammar("-n -e -E", texts)],
  ["printf", grammar(`${help} -#`, texts)],
  [
    "seq",
    grammar(`${help} -f:text -s:text -w --format:text --separator:text --equal-width`, {
      first: ["number", "number", "number"],
      min: 1,
    }),
  ],
  ["sleep", grammar(help, { rest: "number", min: 1 })],
  ["basename", grammar(`${help} -a -s:text -z --multiple --suffix:text --zero`, texts)],
  ["dirname", grammar(`${help} -z --zero`, texts)],
  [
    "uname",
    grammar(`${help} -a -s -n -r -v -m -p -i -o --all --kernel-name --kernel-release --machine --operating-system`, {}),
  ],
  ["pwd", grammar(`${help} -L -P --logical --physical`, {})],
  ["true", grammar(help, {})],
  ["false", grammar(help, {})],
  [
    "touch",
    grammar(
      `${help} -a -c -d:text -h -m -r:path -t:text --no-create --date:text --no-dereference --reference:path --time:word`,
      { rest: "write", min: 1 },
    ),
  ],
  ["mkdir", grammar(`${help} -p -v --parents --verbose`, { rest: "write", min: 1 })],
  ["rmdir", grammar(`${help} -p -v --ignore-fail-on-non-empty --parents --verbose`, { rest: "write", min: 1 })],
  [
    "rm",
    grammar(`${help} -f -i -I -r -R -d -v --force --recursive --dir --verbose --one-file-system`, {
      rest: "write",
      min: 1,
    }),
  ],
  ["mv", grammar(`${help} -f -n -u -v --force --no-clobber --update --verbose`, { rest: "write", min: 2 })],
  // One file to one file: into a folder, cp writes through links it finds there.
  [
    "cp",
    grammar(
      `${help} -f -n -p -u -v --force --no-clobber --update --verbose --attributes-only --remove-destination`,
      exactly("file", "newFile"),
    ),
  ],
  ["tee", grammar(`${help} -a -i --append --ignore-interrupts`, { rest: "newFile" })],
  [
    "split",
    grammar(
      `${help} -a:number -b:number -C:number -d -e -l:number -n:text -x --suffix-length:number --bytes:number --line-bytes:number --lines:number --number:text --numeric-suffixes?:number --hex-suffixes?:number --elide-empty-files --verbose --additional-suffix:word`,
      exactly("file", "prefix"),
    ),
  ],
]);

/** Tests and printing; nothing that runs, deletes, writes to a file or follows links. */
function findGrammar(): Grammar {
  const tests = `
    -P --help --version -name:text -iname:text -path:text -ipath:text -wholename:text -iwholename:text -regex:text -iregex:text
    -regextype:word -lname:text -ilname:text -type:word -size:number -empty -perm:word -user:word -group:word -uid:number
    -gid:number -nouser -nogroup -links:number -inum:number -amin:number -atime:number -cmin:number -ctime:number -mmin:number
    -mtime:number -newer:path -anewer:path -cnewer:path -newermt:text -samefile:path -readable -writable -executable -true -false
    -maxdepth:number -mindepth:number -depth -d -mount -xdev -daystart -not -a -and -o -or -print -print0 -printf:text -ls -prune -quit
  `;
  return grammar(tests, { rest: "path" }, { words: true });
}
