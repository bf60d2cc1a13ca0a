import type { KeptWire } from "../../core/kept-wire.ts";
import type { Config } from "../config/load.ts";
import { isSecretName } from "../config/secrets.ts";
import { scalars } from "../config/tree.ts";

/** Shorter values occur in streams by chance. */
const shortestSecret = 8;
/** Values of at least this length are masked anywhere; shorter ones only as a whole word. */
const unmistakable = 16;

/** Credentials by their form, whoever they belong to. The first group is kept. */
const forms: readonly RegExp[] = [
  /(\b(?:bearer|basic)\s+)[a-z0-9._~+/=-]{8,}/gi,
  /((?:x-)?(?:api[-_]?key|apikey|authorization|client[-_]?secret|access[-_]?token|refresh[-_]?token|password)\\?"?\s*[:=]\s*\\?"?)[^\s"'\\,;}]{6,}/gi,
  /(\b)(?:sk|pk|rk)[-_][a-z0-9_-]{16,}/gi,
  /(\b)(?:gh[pousr]|github_pat)_[a-z0-9_]{20,}/gi,
  /(\b)xox[abprs]-[a-z0-9-]{10,}/gi,
  /(\b)AIza[\w-]{30,}/g,
  /(\b)(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /(\b)hf_[a-z0-9]{20,}/gi,
  /(\b)glpat-[\w-]{20,}/g,
  /(\b)eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g,
];

/**
 * Hides keys in what a provider sent: those of the configuration, and whatever has the form of one. A mask has as many bytes as
 * what it hides, so that the rest stays where it was and decodes as before. A key that a model spells out over several deltas is
 * not found.
 */
export function wireMask(config: Config): (kept: KeptWire) => KeptWire {
  const patterns = [...secretsOf(config)].flatMap(spellings).map(patternOf);
  return (kept) => {
    // One character per byte, whatever the bytes are.
    const text = Buffer.from(kept.bytes).toString("latin1");
    const clean = [...patterns, ...forms].reduce((masked, pattern) => masked.replace(pattern, stars), text);
    return clean === text ? kept : { ...kept, bytes: Buffer.from(clean, "latin1") };
  };
}

const stars = (found: string, kept: unknown): string => {
  const shown = typeof kept === "string" ? kept : "";
  return shown + "*".repeat(found.length - shown.length);
};

/** Values that came from elsewhere (variables, files), have the name of a secret, or stand where any value may be one. */
function* secretsOf({ tree }: Config): Generator<string> {
  for (const [path, { value, from }] of scalars(tree)) {
    if (typeof value !== "string" || value.length < shortestSecret) continue;
    const names = path.map(String);
    const mayBe = names.some((name) => isSecretName(name) || name === "headers" || name === "env");
    if (from !== undefined || mayBe) yield value;
  }
}

/** As it is, in JSON, in JSON that escapes slashes, and in an address. */
function spellings(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const all = [secret, json, json.replaceAll("/", "\\/"), encodeURIComponent(secret.toWellFormed())];
  return [...new Set(all)].map((text) => Buffer.from(text, "utf8").toString("latin1"));
}

function patternOf(value: string): RegExp {
  const exact = value.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  return new RegExp(value.length >= unmistakable ? exact : `(?<![\\w-])${exact}(?![\\w-])`, "g");
}
