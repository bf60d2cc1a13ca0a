import { z } from "zod";
import { VenturiError } from "../../core/errors/errors.ts";
import type { Tool } from "../../core/ports/tool.ts";
import { hasControlCharacter } from "../../core/values/control-characters.ts";
import type { Skill, SkillFile } from "../run/skills.ts";

export const readSkill = "read_skill";
const mostFiles = 200;
const longestPath = 4_096;

/** Gives the model a skill's body and files, from memory. */
export function readSkillTool(skills: readonly Skill[], shells: readonly string[]): Tool {
  const byName = new Map(skills.map((skill) => [skill.name, skill]));
  return {
    name: readSkill,
    description: "Reads one of your skills: what to do, or one of the files that belong to it.",
    parameters: z.strictObject({
      name: z.string().describe("the skill's name"),
      path: z
        .string()
        .optional()
        .describe("a file of the skill, such as references/forms.md; its instructions when absent"),
    }) as unknown as Tool["parameters"], // Arguments are validated before the call.
    effect: "pure",
    call(input, { skills: listed = [] }) {
      const { name, path } = input as { name: string; path?: string };
      const shown = listed.find((each) => each.name === name);
      if (shown === undefined) {
        const known = listed.map((each) => each.name).join(", ");
        throw new VenturiError("tool.call", "not_found", `there is no skill "${name}"; there are: ${known}`);
      }
      const skill = byName.get(name);
      if (skill === undefined)
        throw new VenturiError("tool.call", "not_found", `the skill "${name}" was removed since this run began`);
      const text = path === undefined ? `${skill.body}${afterBody(skill, shells)}` : fileOf(skill, path);
      return shown.hash === skill.hash ? text : `[this skill was changed since this run began]\n${text}`;
    },
  };
}

function afterBody(skill: Skill, shells: readonly string[]): string {
  const files = [...skill.files].filter(([path, { unread }]) => path !== "SKILL.md" && unread !== "denied");
  if (files.length === 0) return "";
  const named = files.slice(0, mostFiles).map(([path]) => path);
  const more = files.length > mostFiles ? ` and ${files.length - mostFiles} more` : "";
  return `\n\n[files of this skill: ${named.join(", ")}${more}${scriptsOf(skill, named, shells)}]`;
}

/** Scripts run only in the agent's sandboxed shell, if it has one. */
function scriptsOf({ folder }: Skill, files: readonly string[], [shell]: readonly string[]): string {
  if (!files.some((path) => path.startsWith("scripts/"))) return "";
  return shell === undefined
    ? "; you have no tool that runs scripts"
    : `; its folder is ${folder}, and ${shell} runs its scripts`;
}

function fileOf(skill: Skill, path: string): string {
  const segments = segmentsOf(path);
  const name = segments.join("/");
  const file = skill.files.get(name);
  if (file === undefined || file.unread === "denied") {
    const known = [...skill.files].filter(([, { unread }]) => unread !== "denied").map(([each]) => each);
    const message = `the skill ${skill.name} has no file "${name}"; it has: ${known.slice(0, mostFiles).join(", ")}`;
    throw new VenturiError("tool.call", "not_found", message);
  }
  if (file.text === undefined) throw unreadable(name, file);
  return file.text;
}

const unreadable = (name: string, { size, unread }: SkillFile): VenturiError =>
  unread === "large"
    ? new VenturiError("tool.call", "too_large", `"${name}" has ${size} bytes, too many to be read`)
    : new VenturiError("tool.call", "tool_failed", `"${name}" is a binary file (${size} bytes)`);

/** Refuses the same paths as the `files` tools. */
function segmentsOf(path: string): string[] {
  const refuse = (message: string) => new VenturiError("tool.call", "tool_denied", message);
  if (path.length > longestPath) throw refuse("the path is too long");
  if (hasControlCharacter(path)) throw refuse("the path has a control character in it");
  if (path.startsWith("/") || path.startsWith("~") || path.includes("\\") || path[1] === ":")
    throw refuse("use a path relative to the skill's folder, with / between folders");
  const segments = path.split("/").filter((segment) => segment !== "" && segment !== ".");
  if (segments.includes("..")) throw refuse('".." is not allowed; paths start at the skill\'s folder');
  return segments;
}
