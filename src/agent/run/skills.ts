import type { ListedSkill } from "../../core/run/listed-skill.ts";

/** A file of a skill, as read when the configuration was loaded. */
export interface SkillFile {
  readonly size: number;
  /** Absent when the file is `binary`, too `large`, or hidden from tools (`denied`). */
  readonly text?: string;
  readonly unread?: "binary" | "large" | "denied";
}

/** A folder with a SKILL.md, read once, so that the model reads exactly what was hashed. */
export interface Skill extends ListedSkill {
  readonly folder: string;
  /** SKILL.md without its frontmatter. */
  readonly body: string;
  /** By path below the folder, sorted. */
  readonly files: ReadonlyMap<string, SkillFile>;
}

export const listedOf = (skills: readonly Skill[] | undefined): { readonly skills?: ListedSkill[] } =>
  skills === undefined || skills.length === 0
    ? {}
    : { skills: skills.map(({ name, description, hash }) => ({ name, description, hash })) };

/** Appends the list of skills to the instructions; the same text in every round, to keep the prompt prefix stable. */
export function withSkills(instructions: string, skills: readonly ListedSkill[] | undefined): string {
  if (skills === undefined || skills.length === 0) return instructions;
  const lines = skills.map(({ name, description }) => `- ${name}: ${description.split(/\s+/).join(" ")}`);
  const list = `${preface}\n${lines.join("\n")}`;
  return instructions === "" ? list : `${instructions}\n\n${list}`;
}

const preface =
  "You have these skills. When one fits the task, read it with read_skill before you begin, and follow what it says.";
