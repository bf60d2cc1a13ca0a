import { z } from "zod";
import type { Skill } from "../../agent/run/skills.ts";
import { messageOf } from "../../core/errors/errors.ts";
import { hasControlCharacter } from "../../core/values/control-characters.ts";
import type { Place, Problem } from "../yaml/problem.ts";
import { parseYaml } from "../yaml/read.ts";
import { type MapNode, placeOf } from "../yaml/tree.ts";
import { check } from "./issues.ts";

const longestName = 64;
const longestDescription = 1_024;
const longestCompatibility = 500;
/** Maximum length of the frontmatter, far above what its fields allow. */
const longestHead = 16_384;

/** As the skills standard defines it. Other keys belong to other programs and are ignored. */
const Frontmatter = z.looseObject({
  name: z.string().superRefine((name, context) => {
    const message = nameProblem(name);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  }),
  description: z.string().superRefine((text, context) => {
    const message = descriptionProblem(text);
    if (message !== undefined) context.addIssue({ code: "custom", message });
  }),
  license: z.string().optional(),
  compatibility: z.string().min(1).max(longestCompatibility).optional(),
  metadata: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  /** Read but without effect: only the configuration decides what needs approval. */
  "allowed-tools": z.union([z.string(), z.array(z.string())]).optional(),
});

interface SkillText {
  readonly text: string;
  /** The folder's name. */
  readonly name: string;
  readonly problems: Problem[];
}

/** Reads a SKILL.md. Adds to `problems`; undefined if it has any. */
export function readSkillFile(
  file: string,
  { text, name: folder, problems }: SkillText,
): { skill: Pick<Skill, "name" | "description" | "body">; place: Place } | undefined {
  const split = splitHead(text);
  if (typeof split === "string") {
    problems.push({ place: { file, line: 1, column: 1 }, path: "", message: split });
    return undefined;
  }
  const found: Problem[] = [];
  const root = parsed(file, split.head, found);
  const head = root && check({ schema: Frontmatter, root, path: [], problems: found });
  const place = root === undefined ? { file, line: 1, column: 1 } : placeOf(root, ["name"]);
  if (head !== undefined && head.name !== folder) {
    const message = `the name is not that of the folder, "${folder}"; give both the same one`;
    found.push({ place, path: "name", message });
  }
  problems.push(...found);
  if (head === undefined || found.length > 0) return undefined;
  return { skill: { name: head.name, description: head.description.trim(), body: split.body.trim() }, place };
}

/** Deep nesting can overflow the parser's stack; report it as a problem of the file. */
function parsed(file: string, head: string, problems: Problem[]): MapNode | undefined {
  try {
    return parseYaml(file, head, problems);
  } catch (thrown) {
    problems.push({ place: { file, line: 1, column: 1 }, path: "", message: `not valid YAML: ${messageOf(thrown)}` });
    return undefined;
  }
}

/** The frontmatter with its line numbers preserved, and the rest; or a description of the problem. */
function splitHead(text: string): { head: string; body: string } | string {
  const lines = text.slice(0, longestHead + 1).split("\n");
  const isFence = (line: string) => line.trimEnd() === "---";
  if (!isFence((lines[0] ?? "").replace("\uFEFF", "")))
    return 'SKILL.md begins with frontmatter: a line "---", `name:` and `description:`, a line "---"';
  const end = lines.findIndex((line, index) => index > 0 && isFence(line));
  if (end < 0)
    return text.length > longestHead
      ? `the frontmatter has more than ${longestHead} characters`
      : 'the frontmatter has no end: a second line "---"';
  const head = lines.slice(1, end).join("\n");
  return { head: `\n${head}`, body: text.slice(lines.slice(0, end + 1).join("\n").length + 1) };
}

/** Why the standard forbids this name. */
function nameProblem(name: string): string | undefined {
  if (name === "") return "a skill needs a name";
  if (name.length > longestName) return `the name has ${name.length} characters; at most ${longestName} are allowed`;
  const isPlain = [...name].every(
    (char) => (char >= "a" && char <= "z") || (char >= "0" && char <= "9") || char === "-",
  );
  if (!isPlain) return `${JSON.stringify(name)} is no name of a skill; use a to z, 0 to 9 and "-"`;
  if (name.startsWith("-") || name.endsWith("-")) return 'a name neither begins nor ends with "-"';
  return name.includes("--") ? 'a name has no two "-" in a row' : undefined;
}

function descriptionProblem(text: string): string | undefined {
  if (text.trim() === "") return "a skill needs a description: the model chooses by it";
  if (text.length > longestDescription)
    return `the description has ${text.length} characters; at most ${longestDescription} are allowed`;
  return hasControlCharacter(text, "\n\r\t") ? "the description has a control character in it" : undefined;
}
