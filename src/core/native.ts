import { z } from "zod";

/**
 * What a client said in the words of its own wire, kept so that nothing is lost. A provider that speaks the same wire merges
 * `fields` over what it makes of the element; with a `type` among them they are the whole element. For any other wire they
 * are taken out before the provider is asked, and those that are not `translated` are reported.
 */
export const Native = z.strictObject({
  wire: z.string(),
  fields: z.record(z.string(), z.unknown()),
  /** Names among `fields` whose meaning reaches other wires too: translated, or the default everywhere. */
  translated: z.array(z.string()).exactOptional(),
  /** In its own wire the element is part of another one and not written there; elsewhere it stands for itself. */
  within: z.literal(true).exactOptional(),
});
export type Native = z.output<typeof Native>;

/** The same for a whole request: fields of its body, and headers that belong to the wire. */
export const NativeRequest = z.strictObject({
  ...Native.shape,
  headers: z.record(z.string(), z.string()).exactOptional(),
});
export type NativeRequest = z.output<typeof NativeRequest>;

export interface KnownFields {
  /** Fields that the run's own vocabulary carries whole, so that the provider writes them again as they were. */
  readonly carried: ReadonlySet<string>;
  /** Fields that are translated, but only in part or in another form: kept as they were for the same wire. */
  readonly translated?: ReadonlySet<string>;
  /** Values that mean the same as leaving the field out. */
  readonly defaults?: Readonly<Record<string, unknown>>;
  /** Where the object stands in its element, such as `function.`. */
  readonly at?: string;
}

/** Everything of a client's object that nothing else carries, to be spread into what it became. */
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

/** Null, an empty list and an empty object ask for nothing. */
const isEmpty = (value: unknown): boolean =>
  value === null || (typeof value === "object" && Object.keys(value as object).length === 0);

/** The element as the wire sends it: what the provider made of it, under what the client said in this wire's own words. */
export function withNative(element: Record<string, unknown>, native: Native | undefined): Record<string, unknown> {
  if (native === undefined) return element;
  if (isWhole(native)) return native.fields;
  const merged = { ...element };
  for (const [name, value] of Object.entries(native.fields)) setField(merged, name, value);
  return merged;
}

/** `function.strict` is the field of an object that the element has; without such an object it is a name like any other. */
function setField(element: Record<string, unknown>, name: string, value: unknown): void {
  const dot = name.indexOf(".");
  const inner = dot > 0 ? element[name.slice(0, dot)] : undefined;
  if (typeof inner !== "object" || inner === null) element[name] = value;
  else element[name.slice(0, dot)] = { ...inner, [name.slice(dot + 1)]: value };
}

/** Whether the fields are the element itself and not an addition to it. */
export const isWhole = (native: Native): boolean => native.fields.type !== undefined;

/** Both, where an element has fields of its own and in an inner object. */
export function joinNative(...all: readonly { native?: Native }[]): { native?: Native } {
  const known = all.flatMap(({ native }) => native ?? []);
  const [first] = known;
  if (first === undefined) return {};
  const translated = known.flatMap((native) => native.translated ?? []);
  const fields = Object.assign({}, ...known.map((native) => native.fields)) as Native["fields"]; // each is one
  return { native: { wire: first.wire, fields, ...(translated.length === 0 ? {} : { translated }) } };
}

/** The fields that only this wire understands. */
export const untranslated = ({ fields, translated = [] }: Native): string[] =>
  Object.keys(fields).filter((name) => !translated.includes(name));
