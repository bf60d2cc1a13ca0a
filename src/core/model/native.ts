import { z } from "zod";

/**
 * Fields of a client's wire, kept verbatim so that nothing is lost. A provider of the same wire merges `fields` over its own encoding of
 * the element; fields with a `type` replace the element. For other wires they are removed from the request, and those not in `translated`
 * are reported.
 */
export const Native = z.strictObject({
  wire: z.string(),
  fields: z.record(z.string(), z.unknown()),
  /** Fields whose meaning also reaches other wires: translated, or the default everywhere. */
  translated: z.array(z.string()).exactOptional(),
  /** Fields the client sent that are passed on to no provider; reported. */
  unsent: z.array(z.string()).exactOptional(),
  /** On its own wire the element is part of another one and not written separately; on other wires it is a separate element. */
  within: z.literal(true).exactOptional(),
});
export type Native = z.output<typeof Native>;

/** The same for a whole request: body fields, and headers of the wire. */
export const NativeRequest = z.strictObject({
  ...Native.shape,
  headers: z.record(z.string(), z.string()).exactOptional(),
});
export type NativeRequest = z.output<typeof NativeRequest>;

/**
 * Fields of a vendor's answer that the run has no other place for, verbatim, on the event of the element they belong to. A channel of the
 * same wire writes them back.
 */
export const NativeAnswer = z.strictObject({
  wire: z.string(),
  fields: z.record(z.string(), z.unknown()),
  /** Names of fields too large to keep. */
  omitted: z.array(z.string()).exactOptional(),
});
export type NativeAnswer = z.output<typeof NativeAnswer>;

export interface KnownFields {
  /** Fields fully represented in the run; the provider reproduces them exactly. */
  readonly carried: ReadonlySet<string>;
  /** Fields partly translated, or in another form; kept verbatim for the same wire. */
  readonly translated?: ReadonlySet<string>;
  /** Values equivalent to omitting the field. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  /** Path prefix of the object within its element, such as `function.`. */
  readonly at?: string;
}

/**
 * The fields of a client's object that nothing else represents, to be spread into the translated element. A `type` among them never
 * replaces the element; a channel must state that explicitly.
 */
export function nativeOf(
  wire: string,
  object: Readonly<Record<string, unknown>>,
  { carried, translated, defaults = {}, at = "" }: KnownFields,
): { native?: Native } {
  const fields: Record<string, unknown> = {};
  const harmless: string[] = [];
  const unsent: string[] = [];
  for (const [name, value] of Object.entries(object)) {
    if (value === undefined || carried.has(name)) continue;
    const replaces = name === "type" && at === "";
    if (isMisleading(name) || replaces || carried.has(name.toLowerCase())) {
      if (!isEmpty(value)) unsent.push(at + name);
      continue;
    }
    fields[at + name] = value;
    const isDefault = Object.hasOwn(defaults, name) && value === defaults[name];
    if (translated?.has(name) || isEmpty(value) || isDefault) harmless.push(at + name);
  }
  if (Object.keys(fields).length + unsent.length === 0) return {};
  return {
    native: {
      wire,
      fields,
      ...(harmless.length === 0 ? {} : { translated: harmless }),
      ...(unsent.length === 0 ? {} : { unsent }),
    },
  };
}

/** A client's field name that would be read as a path, or that exists on every object. */
const isMisleading = (name: string): boolean => name.includes(".") || name in Object.prototype;

/** Null, an empty list and an empty object request nothing. */
const isEmpty = (value: unknown): boolean =>
  value === null || (typeof value === "object" && Object.keys(value as object).length === 0);

/** A part or a tool as sent: the provider's encoding, overlaid with the client's native fields or replaced by them. */
export function withNative(element: Record<string, unknown>, native: Native | undefined): Record<string, unknown> {
  return native !== undefined && isWhole(native) ? native.fields : withFields(element, native);
}

/** A body, message or choice as sent: overlaid with the client's native fields, never replaced. */
export function withFields(element: Record<string, unknown>, native: Native | undefined): Record<string, unknown> {
  if (native === undefined) return element;
  const merged = { ...element };
  for (const [name, value] of Object.entries(native.fields)) {
    if (name !== "__proto__" && name !== "type") setField(merged, name, value);
  }
  return merged;
}

/** `function.strict` refers to a nested object if the element has one; otherwise it is an ordinary name. */
function setField(element: Record<string, unknown>, name: string, value: unknown): void {
  const dot = name.indexOf(".");
  const outer = name.slice(0, Math.max(0, dot));
  const inner = Object.hasOwn(element, outer) ? element[outer] : undefined;
  if (typeof inner !== "object" || inner === null) element[name] = value;
  else element[outer] = { ...inner, [name.slice(dot + 1)]: value };
}

/** Whether the fields replace the element instead of extending it. */
export const isWhole = ({ fields }: Native): boolean => Object.hasOwn(fields, "type") && fields.type !== undefined;

/** Merges native fields of an element and of its inner objects. */
export function joinNative(...all: readonly { native?: Native }[]): { native?: Native } {
  const known = all.flatMap(({ native }) => native ?? []);
  const [first] = known;
  if (first === undefined) return {};
  const translated = known.flatMap((native) => native.translated ?? []);
  const unsent = known.flatMap((native) => native.unsent ?? []);
  const fields = Object.assign({}, ...known.map((native) => native.fields)) as Native["fields"]; // Each is a record.
  return {
    native: {
      wire: first.wire,
      fields,
      ...(translated.length === 0 ? {} : { translated }),
      ...(unsent.length === 0 ? {} : { unsent }),
    },
  };
}

/** The fields that only this wire understands, plus those it does not get either. */
export const untranslated = ({ fields, translated = [], unsent = [] }: Native): string[] => [
  ...Object.keys(fields).filter((name) => !translated.includes(name)),
  ...unsent,
];
