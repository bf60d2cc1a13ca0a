import fs from "node:fs";
import { basename, isAbsolute, join, resolve } from "node:path";
import type { Skill } from "../../agent/run/skills.ts";
import { messageOf } from "../../core/errors/errors.ts";
import { readFolder, Unfit } from "../skills/folder.ts";
import { type Place, type Problem, pathText, placeText, shortPath } from "../yaml/problem.ts";
import { find, keysOf, type MapNode, type Path } from "../yaml/tree.ts";
import { readSkillFile } from "./skill-file.ts";

/** More skills would fill the prompt with their descriptions. */
const mostSkills = 100;

/** A skill, and the location of its name. */
interface Read {
  readonly skill: Skill;
  readonly place: Place;
}

/** The skills of each agent that has some, sorted by name. Adds to `problems`. */
export async function readSkills(
  root: MapNode,
  { folder, problems }: { readonly folder: string; readonly problems: Problem[] },
): Promise<ReadonlyMap<string, readonly Skill[]>> {
  const known = new Map<string, Promise<Read | undefined>>();
  const found = new Map<string, readonly Skill[]>();
  for (const agent of keysOf(root, ["agents"])) {
    const list = find(root, ["agents", agent, "skills"]);
    if (list?.kind !== "list" || list.items.length === 0) continue; // Anything else is reported by the schema.
    const own = new Map<string, Read>();
    for (const [index, item] of list.items.entries()) {
      if (item.kind !== "scalar" || typeof item.value !== "string") continue;
      const path: Path = ["agents", agent, "skills", index];
      const complain = (message: string) => problems.push({ place: item.place, path: pathText(path), message });
      for (const match of matchesOf(item.value, folder, complain)) {
        const reading = known.get(match) ?? readSkill(match, { complain, problems });
        known.set(match, reading);
        const read = await reading;
        if (read !== undefined) add(own, read, problems);
      }
      if (own.size > mostSkills) {
        complain(`there are more than ${mostSkills} skills; give them to several agents`);
        break;
      }
    }
    if (own.size > 0) found.set(agent, [...own.values()].map(({ skill }) => skill).sort(byName));
  }
  return found;
}

const byName = (one: Skill, other: Skill): number => (one.name < other.name ? -1 : 1);

function add(own: Map<string, Read>, read: Read, problems: Problem[]): void {
  const { name, folder } = read.skill;
  const before = own.get(name);
  if (before === undefined) own.set(name, read);
  else if (before.skill.folder !== folder) {
    const message = `the agent has a skill "${name}" already, at ${placeText(before.place)}`;
    problems.push({ place: read.place, path: "name", message });
  }
}

/** A plain name must be a skill's folder; files matched by a pattern are skipped. */
function matchesOf(pattern: string, folder: string, complain: (message: string) => void): string[] {
  if (!["*", "?", "[", "{"].some((sign) => pattern.includes(sign))) return [resolve(folder, pattern)];
  let names: string[];
  try {
    names = fs.globSync(pattern, { cwd: folder });
  } catch (thrown) {
    complain(`"${pattern}" can't be followed: ${messageOf(thrown)}`);
    return [];
  }
  const paths = names.map((name) => (isAbsolute(name) ? name : join(folder, name))).sort();
  const folders = paths.filter((path) => !fs.lstatSync(path, { throwIfNoEntry: false })?.isFile());
  if (folders.length === 0) complain(`"${pattern}" matches no folder`);
  return folders;
}

async function readSkill(
  folder: string,
  { complain, problems }: { complain(message: string): void; problems: Problem[] },
): Promise<Read | undefined> {
  const short = shortPath(folder);
  const stats = fs.lstatSync(folder, { throwIfNoEntry: false });
  if (stats === undefined) complain(`${short} does not exist`);
  else if (stats.isSymbolicLink()) complain(`${short} is a link; links are not followed`);
  else if (!stats.isDirectory()) complain(`${short} is not a folder; name the folder that has the SKILL.md`);
  if (!stats?.isDirectory()) return undefined;
  try {
    const { files, hash } = await readFolder(folder);
    const main = files.get("SKILL.md");
    if (main === undefined) throw new Unfit("it has no SKILL.md");
    if (main.text === undefined)
      throw new Unfit(main.unread === "large" ? "SKILL.md is too large" : "SKILL.md is not UTF-8 text");
    const read = readSkillFile(join(folder, "SKILL.md"), { text: main.text, name: basename(folder), problems });
    return read && { skill: { ...read.skill, folder, hash, files }, place: read.place };
  } catch (thrown) {
    if (!(thrown instanceof Unfit)) throw thrown;
    complain(`${short} is no skill: ${thrown.message}`);
    return undefined;
  }
}
