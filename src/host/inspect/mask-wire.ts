import type { KeptWire } from "../../core/run/kept-wire.ts";
import { spellings } from "../../core/values/redact.ts";
import { keyForms, type Mask, maskForm, maskJwts, type SecretForm } from "../../core/values/secret-forms.ts";
import type { Config } from "../config/load.ts";
import { isSecretName } from "../config/secrets.ts";
import { scalars } from "../yaml/tree.ts";

/** Shorter values occur in streams by chance. */
const shortestSecret = 8;
/** Values of at least this length are masked anywhere; shorter ones only as a whole word. */
const unmistakable = 16;

const ends = new Set("\"'\\,;} \t\r\n\v\f\xa0".split("").map((sign) => sign.charCodeAt(0)));

/** Credentials recognised by their form, whoever owns them. */
const forms: readonly SecretForm[] = [
  ...keyForms,
  {
    start:
      /((?:x-)?(?:api[-_]?key|apikey|authorization|client[-_]?secret|access[-_]?token|refresh[-_]?token|password)\\?"?\s{0,8}[:=]\s{0,8}\\?"?)[^\s"'\\,;}]{6}/gi,
    rest: (unit) => !ends.has(unit),
  },
];

/**
 * Hides keys in what a provider sent: those of the configuration, and whatever looks like one. A mask keeps the byte length, so that the
 * rest stays in place and decodes as before. A key that a model spells out over several deltas is not found.
 */
export function wireMask(config: Config): (kept: KeptWire) => KeptWire {
  const patterns = [...secretsOf(config)].flatMap(inBytes).map(patternOf);
  return (kept) => {
    // One character per byte, whatever the bytes are.
    const text = Buffer.from(kept.bytes).toString("latin1");
    let clean = patterns.reduce((masked, pattern) => masked.replace(pattern, (found) => stars(found, 0)), text);
    for (const form of forms) clean = maskForm(clean, form, stars);
    clean = maskJwts(clean, stars);
    return clean === text ? kept : { ...kept, bytes: Buffer.from(clean, "latin1") };
  };
}

const stars: Mask = (found, shown) => found.slice(0, shown) + "*".repeat(found.length - shown);

/** Values from variables or files, values of keys named like secrets, and values in places where anything may be secret. */
function* secretsOf({ tree }: Config): Generator<string> {
  for (const [path, { value, from }] of scalars(tree)) {
    if (typeof value !== "string" || value.length < shortestSecret) continue;
    const names = path.map(String);
    const mayBe = names.some((name) => isSecretName(name) || name === "headers" || name === "env");
    if (from !== undefined || mayBe) yield value;
  }
}

const inBytes = (secret: string): string[] =>
  spellings(secret).map((text) => Buffer.from(text, "utf8").toString("latin1"));

function patternOf(value: string): RegExp {
  const exact = value.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  return new RegExp(value.length >= unmistakable ? exact : `(?<![\\w-])${exact}(?![\\w-])`, "g");
}
