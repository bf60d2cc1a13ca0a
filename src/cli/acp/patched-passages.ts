import type { Diff } from "@agentclientprotocol/sdk";

/** The passages that an `apply_patch` diff replaces, and their replacements, without looking at the file. */
export function patchedPassages(
  diff: string,
  type: "create_file" | "update_file",
): Pick<Diff, "oldText" | "newText">[] {
  const passages: { old: string[]; now: string[] }[] = [{ old: [], now: [] }];
  for (const line of diff.split("\n")) {
    if (line.startsWith("@@")) passages.push({ old: [], now: [] });
    if (line.startsWith("@@") || line.startsWith("*** ")) continue;
    const text = line.slice(1);
    if (!line.startsWith("+")) passages.at(-1)?.old.push(text);
    if (!line.startsWith("-")) passages.at(-1)?.now.push(text);
  }
  const changed = passages.filter(({ old, now }) => old.join("\n") !== now.join("\n"));
  return changed.map(({ old, now }) => ({
    oldText: type === "create_file" ? null : old.join("\n"),
    newText: now.join("\n"),
  }));
}
