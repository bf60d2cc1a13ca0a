import type { Prompt } from "../prompt.ts";
import type { Random } from "../random.ts";

/** An answer without tools. The first matching rule wins. */
export function plainReply(prompt: Prompt, text: string, random: Random): string {
  for (const [pattern, reply] of rules) {
    const match = pattern.exec(text);
    if (match !== null) return reply({ prompt, text, match, random });
  }
  return summary(text);
}

interface Said {
  readonly prompt: Prompt;
  readonly text: string;
  readonly match: RegExpExecArray;
  readonly random: Random;
}

const rules: readonly (readonly [RegExp, (said: Said) => string])[] = [
  [/^\s*$/, () => "You have not said anything yet. Ask me something."],
  [
    /\b(what|how) (can|could|do) (you|i) (do|help|ask)|\bhelp\b|\bwho are you\b|\bwhat are you\b/i,
    ({ prompt }) => abilities(prompt),
  ],
  [
    /\bmy name is (\p{L}+)/iu,
    ({ match }) => `Nice to meet you, ${match[1]}. I will remember your name in this conversation.`,
  ],
  [/\bwhat(?:'s| is) my name\b/i, ({ prompt }) => rememberedName(prompt)],
  [/\bwhat did i (?:just )?(?:say|ask)\b/i, ({ prompt }) => rememberedWords(prompt)],
  [/\bcount (?:up )?(?:from 1 )?to (\d{1,4})\b/i, ({ match }) => count(Number(match[1]))],
  [/\b(thanks|thank you|cheers)\b/i, () => "You're welcome."],
  [/\b(bye|goodbye|see you)\b/i, () => "Goodbye. It was good to talk to you."],
  [
    /^\W*(hi|hello|hey|good (morning|afternoon|evening|day)|greetings)\b/i,
    ({ prompt, random }) => greeting(prompt, random),
  ],
];

function greeting(prompt: Prompt, random: Random): string {
  const words = ["Hello!", "Hi there!", "Good to see you!"];
  return `${words[Math.floor(random() * words.length)]} ${abilities(prompt)}`;
}

function abilities(prompt: Prompt): string {
  const base = "I'm the simulator's built-in model: small, free and always the same.";
  if (prompt.tools.length === 0) return `${base} I was given no tools, so I can chat a little and repeat what you say.`;
  const names = prompt.tools.map((tool) => tool.name).join(", ");
  return `${base} I can call these tools when you ask for what they do: ${names}.`;
}

function rememberedName(prompt: Prompt): string {
  for (const entry of prompt.messages.toReversed()) {
    const name = entry.role === "user" ? /\bmy name is (\p{L}+)/iu.exec(entry.text)?.[1] : undefined;
    if (name !== undefined) return `Your name is ${name}.`;
  }
  return "You have not told me your name.";
}

function rememberedWords(prompt: Prompt): string {
  const said = prompt.messages.filter((entry) => entry.role === "user" && entry.text !== "");
  const before = said.at(-2);
  return before === undefined ? "This is the first thing you said." : `Before this you said: "${before.text}"`;
}

const count = (to: number): string => Array.from({ length: to }, (_, index) => index + 1).join(" ");

function summary(text: string): string {
  const words = text.trim().split(/\s+/);
  const quoted = words.length <= 24 ? words.join(" ") : `${words.slice(0, 24).join(" ")} …`;
  return `You said: "${quoted}" (${words.length} ${words.length === 1 ? "word" : "words"}). I'm only a simulation, so that is all I can make of it.`;
}
