import type { Skill } from "../../src/agent/run/skills.ts";
import { readSkillTool } from "../../src/agent/tools/read-skill.ts";
import type { GenerationRequest } from "../../src/core/model/provider.ts";
import type { Tool } from "../../src/core/ports/tool.ts";
import type { RunEvent } from "../../src/core/run/events.ts";
import type { Coverage } from "./coverage.ts";

export const skillName = "trade";

interface Learned {
  readonly skills: readonly Skill[];
  readonly tool: Tool;
}

const known = new Map<number, Learned>();

/** The skill as a configuration has it: each has another text. */
export function skillOf(number: number): Learned {
  const learned = known.get(number);
  if (learned !== undefined) return learned;
  const facts = { name: skillName, description: `how to trade, edition ${number}`, hash: `h${number}` };
  const skills = [{ ...facts, folder: "/skills/trade", body: bodyOf(number), files: new Map() }];
  const made = { skills, tool: readSkillTool(skills, []) };
  known.set(number, made);
  return made;
}

const bodyOf = (number: number): string => `body of edition ${number}`;

/** A run is told in every round of the skills that it began with. */
export function checkListed(
  messages: GenerationRequest["messages"],
  events: readonly RunEvent[],
  say: (what: string) => void,
): void {
  const [first] = events;
  if (first?.type !== "run.started" || messages[0]?.role !== "system") return;
  const told = messages[0].parts.map((part) => (part.type === "text" ? part.text : "")).join("");
  for (const { description } of first.skills ?? [])
    if (!told.includes(description)) say(`a model is not told of the skill "${description}", with which its run began`);
}

/** A model that reads another edition than the one it was told of learns that. */
export function checkRead(events: readonly RunEvent[], coverage: Coverage, say: (what: string) => void): void {
  const [first] = events;
  const began = first?.type === "run.started" ? first.skills?.[0]?.hash : undefined;
  for (const event of events) {
    if (event.type !== "tool.finished" || event.name !== "read_skill" || !event.ok) continue;
    const text = event.output ?? "";
    const isChanged = !text.includes(bodyOf(Number(began?.slice(1))));
    if (isChanged) coverage.count("skill changed under a run");
    if (isChanged !== text.includes("was changed since this run began"))
      say(`began with ${began} and has read "${text}"`);
  }
}
