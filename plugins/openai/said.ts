type Json = Readonly<Record<string, unknown>>;

/** How much of a beginning is kept: enough to recognise it, without the frames of a long answer. */
export const longestHead = 256;

/** What was said so far: its length, and how it began. */
export interface Said {
  head: string;
  length: number;
}

/** The rest of a text that repeats what was said; all of it, if it says something else. */
function rest(whole: string, { head, length }: Said): string {
  return whole.length >= length && whole.startsWith(head) ? whole.slice(length) : whole;
}

/** A whole message without the text and reasoning that were said before. */
export function unsaid(message: Json, text: Said, reasoning: Said): Json {
  const added: Record<string, unknown> = { ...message };
  if (typeof message.content === "string") added.content = rest(message.content, text);
  for (const name of reasoningFields) {
    const thought = message[name];
    if (typeof thought === "string") added[name] = rest(thought, reasoning);
  }
  return added;
}

export const reasoningFields = ["reasoning_content", "reasoning", "reasoning_text"] as const;
