import type { Native, NativeRequest } from "./native.ts";

/** Which native fields callers of a wire may set. Without rules, none. */
export interface NativeRules {
  /** Fields of the body that any caller may set, some only with certain values. */
  readonly fields: Readonly<Record<string, true | ((value: unknown) => boolean)>>;
  /**
   * Body fields that no configuration can open to callers: those the run sets itself, and those that decide how much is used and whether
   * usage is reported. In lower case.
   */
  readonly reserved: ReadonlySet<string>;
  /** Fields that make the vendor do more than answer, each with the vendor tool it stands for. */
  readonly acting?: Readonly<Record<string, string>>;
  /** Headers that hold lists, with the values any caller may send. */
  readonly headers?: Readonly<Record<string, (value: string) => boolean>>;
  /** Name of the vendor's tool, if the vendor executes it; undefined if the client does. */
  vendorTool?(tool: Readonly<Record<string, unknown>>): string | undefined;
}

/** Native fields, header values and vendor tools that the configuration opens to a caller beyond the rules. */
export interface NativeGrants {
  readonly native?: "all" | readonly string[];
  readonly vendorTools?: "all" | readonly string[];
}

type Names = "all" | readonly string[] | undefined;

/** Combines two grants. */
export const bothGrants = (left: NativeGrants = {}, right: NativeGrants = {}): NativeGrants => ({
  native: bothNames(left.native, right.native),
  vendorTools: bothNames(left.vendorTools, right.vendorTools),
});

const bothNames = (left: Names = [], right: Names = []): "all" | readonly string[] =>
  left === "all" || right === "all" ? "all" : right.length === 0 ? left : [...left, ...right];

/** Whether the configuration opens a field or content type of this name. */
export const isNativeOpen = ({ native }: NativeGrants, name: string): boolean =>
  native === "all" || native?.includes(name) === true;

/** `web_search` also opens `web_search_20250305` and `web_search_preview`. */
export const isToolOpen = ({ vendorTools }: NativeGrants, tool: string): boolean =>
  vendorTools === "all" || vendorTools?.some((name) => tool === name || tool.startsWith(`${name}_`)) === true;

interface Setting {
  readonly rules: NativeRules | undefined;
  readonly grants: NativeGrants;
  /** Fields set by the configuration, or by a call that may. */
  readonly set: Readonly<Record<string, unknown>>;
}

export interface PermittedNative {
  readonly native: NativeRequest | undefined;
  /** Names that are not passed on. */
  readonly lost: readonly string[];
}

/** What reaches the provider of a caller's native fields and headers. */
export function permittedNative(asked: NativeRequest, setting: Setting): PermittedNative {
  const fields: Record<string, unknown> = {};
  const lost: string[] = [];
  const set = new Map(Object.entries(setting.set).map(([name, value]) => [name.toLowerCase(), value]));
  for (const [name, value] of Object.entries(asked.fields)) {
    const lower = name.toLowerCase();
    if (set.has(lower)) {
      if (lower !== name || JSON.stringify(set.get(lower)) !== JSON.stringify(value)) lost.push(name);
    } else if (isPermitted(name, value, setting)) fields[name] = value;
    else if (!asked.translated?.includes(name)) lost.push(name);
  }
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(asked.headers ?? {})) {
    const values = value.split(",").map((each) => each.trim());
    const kept = values.filter((each) => each !== "" && isHeaderPermitted(name, each, setting));
    if (kept.length > 0) headers[name] = kept.join(",");
    lost.push(...values.filter((each) => each !== "" && !kept.includes(each)).map((each) => `${name}.${each}`));
  }
  if (lost.length === 0 && Object.keys(fields).length === Object.keys(asked.fields).length) {
    return { native: asked, lost };
  }
  const { headers: _, ...rest } = asked;
  const empty = Object.keys(fields).length + Object.keys(headers).length === 0;
  const native = { ...rest, fields, ...(Object.keys(headers).length === 0 ? {} : { headers }) };
  return { native: empty ? undefined : native, lost };
}

function isPermitted(name: string, value: unknown, { rules, grants }: Setting): boolean {
  if (name.includes(".") || name in Object.prototype || name.toLowerCase() === "type") return false;
  if (rules?.reserved.has(name.toLowerCase())) return false;
  const tool = rules?.acting !== undefined && Object.hasOwn(rules.acting, name) ? rules.acting[name] : undefined;
  if (tool !== undefined) return isToolOpen(grants, tool);
  if (isNativeOpen(grants, name)) return true;
  const rule = rules !== undefined && Object.hasOwn(rules.fields, name) ? rules.fields[name] : undefined;
  return rule === true || (typeof rule === "function" && rule(value));
}

/** Header names are sent unchanged, so only those with rules are permitted. */
function isHeaderPermitted(name: string, value: string, { rules, grants }: Setting): boolean {
  const rule = rules?.headers !== undefined && Object.hasOwn(rules.headers, name) ? rules.headers[name] : undefined;
  if (rule === undefined || !/^[\x21-\x7e]+$/.test(value)) return false;
  return rule(value) || isNativeOpen(grants, value);
}

/** The vendor's name of a client's tool that the vendor would execute and this caller may not use. */
export function closedTool(native: Native, { rules, grants }: Omit<Setting, "set">): string | undefined {
  const { type } = native.fields;
  if (type === undefined) return undefined;
  // Without rules it is unknown who executes the tool, so assume the vendor.
  const tool = rules?.vendorTool === undefined ? String(type) : rules.vendorTool(native.fields);
  return tool === undefined || isToolOpen(grants, tool) ? undefined : tool;
}

/** The same for tools defined inside content, on wires that change tools in mid-conversation. */
export function closedToolIn(value: unknown, rights: Omit<Setting, "set">): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, inner] of Object.entries(value)) {
    const defined = key === "tools" ? Object.values(inner ?? {}) : key === "tool" ? [inner] : [];
    for (const tool of defined) {
      if (typeof tool?.type !== "string") continue;
      const closed = closedTool({ wire: "", fields: tool }, rights);
      if (closed !== undefined) return closed;
    }
    const closed = closedToolIn(inner, rights);
    if (closed !== undefined) return closed;
  }
  return undefined;
}
