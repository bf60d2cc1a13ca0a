import { z } from "zod";

/**
 * Fields of a client's wire, kept verbatim so that nothing is lost. A provider of the same wire merges `fields` over its own
 * encoding of the element; fields with a `type` replace the element. For other wires they are stripped before the request, and
 * those not `translated` are reported.
 */
export const Native = z.strictObject({
  wire: z.string(),
  fields: z.record(z.string(), z.unknown()),
  /** Names among `fields` whose meaning reaches other wires too: translated, or the default everywhere. */
  translated: z.array(z.string()).exactOptional(),
  /** On its own wire the element is part of another one and not written separately; on other wires it stands alone. */
  within: z.literal(true).exactOptional(),
});
export type Native = z.output<typeof Native>;

/** The same for a whole request: body fields, and headers of the wire. */
export const NativeRequest = z.strictObject({
  ...Native.shape,
  headers: z.record(z.string(), z.string()).exactOptional(),
});
export type NativeRequest = z.output<typeof NativeRequest>;

export interface KnownFields {
  /** Fields fully represented by the run's own vocabulary; the provider reproduces them exactly. */
  readonly carried: ReadonlySet<string>;
  /** Fields translated in part or in another form; kept verbatim for the same wire. */
  readonly translated?: ReadonlySet<string>;
  /** Values equivalent to omitting the field. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  /** Path prefix of the object within its element, such as `function.`. */
  readonly at?: string;
}

/** The fields of a client's object that nothing else carries, to be spread into the translated element. */
export function nativeOf(
  wire: string,
  object: Readonly<Record<string, unknown>>,
  { carried, translated, defaults = {}, at = "" }: KnownFields,
): { native?: Native } {
  const fields: Record<string, unknown> = {};
  const harmless: string[] = [];
  for (const [name, value] of Object.entries(object)) {
    if (value === undefined || carried.has(name)) continue;
    fields[at + name] = value;
    if (translated?.has(name) || isEmpty(value) || value === defaults[name]) harmless.push(at + name);
  }
  if (Object.keys(fields).length === 0) return {};
  return { native: { wire, fields, ...(harmless.length === 0 ? {} : { translated: harmless }) } };
}

/** Null, an empty list and an empty object request nothing. */
const isEmpty = (value: unknown): boolean =>
  value === null || (typeof value === "object" && Object.keys(value as object).length === 0);

/** The element as sent: the provider's encoding, overlaid with the client's native fields. */
export function withNative(element: Record<string, unknown>, native: Native | undefined): Record<string, unknown> {
  if (native === undefined) return element;
  if (isWhole(native)) return native.fields;
  const merged = { ...element };
  for (const [name, value] of Object.entries(native.fields)) setField(merged, name, value);
  return merged;
}

/** `function.strict` addresses a nested object if the element has one; otherwise it is an ordinary name. */
function setField(element: Record<string, unknown>, name: string, value: unknown): void {
  const dot = name.indexOf(".");
  const inner = dot > 0 ? element[name.slice(0, dot)] : undefined;
  if (typeof inner !== "object" || inner === null) element[name] = value;
  else element[name.slice(0, dot)] = { ...inner, [name.slice(dot + 1)]: value };
}

/** Whether the fields replace the element instead of extending it. */
export const isWhole = (native: Native): boolean => native.fields.type !== undefined;

/** Merges native fields of an element and of its inner objects. */
export function joinNative(...all: readonly { native?: Native }[]): { native?: Native } {
  const known = all.flatMap(({ native }) => native ?? []);
  const [first] = known;
  if (first === undefined) return {};
  const translated = known.flatMap((native) => native.translated ?? []);
  const fields = Object.assign({}, ...known.map((native) => native.fields)) as Native["fields"]; // each is a record
  return { native: { wire: first.wire, fields, ...(translated.length === 0 ? {} : { translated }) } };
}

/** The fields that only this wire understands. */
export const untranslated = ({ fields, translated = [] }: Native): string[] =>
  Object.keys(fields).filter((name) => !translated.includes(name));
