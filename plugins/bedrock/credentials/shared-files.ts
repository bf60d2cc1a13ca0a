import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

export type Profile = Readonly<Record<string, string | undefined>>;

/** Merges a profile of ~/.aws/credentials over that of ~/.aws/config; undefined if neither has it. */
export async function readProfile(name: string): Promise<Profile | undefined> {
  const keys = sections(await contents("AWS_SHARED_CREDENTIALS_FILE", "credentials")).get(name);
  const config = sections(await contents("AWS_CONFIG_FILE", "config"));
  // Only `default` may omit the word "profile".
  const settings = config.get(`profile ${name}`) ?? (name === "default" ? config.get(name) : undefined);
  return keys === undefined && settings === undefined ? undefined : { ...settings, ...keys };
}

async function contents(variable: string, file: string): Promise<string> {
  const path = process.env[variable] || join(homedir(), ".aws", file);
  try {
    return await readFile(path, "utf8");
  } catch {
    return ""; // Most machines have no such file.
  }
}

/** Sections of `name = value` lines. Indented lines belong to nested settings, which are not needed here. */
function sections(text: string): ReadonlyMap<string, Profile> {
  const found = new Map<string, Record<string, string>>();
  let section: Record<string, string> | undefined;
  for (const line of text.split("\n")) {
    const words = line.trim();
    if (words === "" || words.startsWith("#") || words.startsWith(";")) continue;
    if (words.startsWith("[")) {
      const end = words.indexOf("]");
      const name = words.slice(1, end < 0 ? undefined : end).trim();
      section = found.get(name) ?? Object.create(null);
      found.set(name, section ?? {});
      continue;
    }
    const equals = words.indexOf("=");
    if (equals < 0 || section === undefined || line.startsWith(" ") || line.startsWith("\t")) continue;
    section[words.slice(0, equals).trim().toLowerCase()] = words.slice(equals + 1).trim();
  }
  return found;
}
