import { VenturiError } from "../../core/errors/errors.ts";
import { generationOptions } from "../../core/model/generation-options.ts";
import type { Message, Part, ToolResultPart } from "../../core/model/messages.ts";
import { isWhole, type Native, type NativeRequest, untranslated } from "../../core/model/native.ts";
import {
  bothGrants,
  closedTool,
  closedToolIn,
  isNativeOpen,
  type NativeGrants,
  type NativeRules,
  permittedNative,
} from "../../core/model/native-rules.ts";
import type { GenerationRequest, Provider, ToolSpec } from "../../core/model/provider.ts";
import type { RunRequest } from "../../core/run/run-request.ts";
import { keepOne } from "../../core/values/keep-one.ts";
import type { AgentDefinition } from "../run/definition.ts";
import {
  bodyAcross,
  choiceAcross,
  elementAcross,
  fieldsOfChoice,
  marksErrors,
  partAcross,
  singleCalls,
} from "./across-wires.ts";
import { firstRequest } from "./first-request.ts";

export interface Fitted {
  /** The request without native fields of other wires. */
  readonly request: GenerationRequest;
  /** Removed fields that reach the model in no other way, in the client's terms, deduplicated. */
  readonly unsent: readonly string[];
}

const nothing: readonly string[] = [];

type Port = Pick<Provider, "wire" | "ignores" | "nativeRules">;

/** The native fields that the configuration allows this caller to set. */
export const grantsFor = ({ overrides }: AgentDefinition, { caller }: RunRequest): NativeGrants =>
  bothGrants(overrides, caller?.overrides);

/** The request without fields that this wire format lacks or the caller may not set. */
export function fitTo(port: Port, request: GenerationRequest, grants: NativeGrants): Fitted {
  const fit = new Fit(port, grants);
  const native = fit.native(request);
  const messages = fit.each(request.messages, fit.message);
  const tools = fit.each(request.tools, fit.tool);
  const choice = fit.choice(request);
  const output = request.output && fit.element(request.output, "response_format.");
  const unsent = fit.unsent === undefined ? nothing : [...fit.unsent];
  if (fit.intact) return { request, unsent };
  const { native: _, nativeChoice: _choice, toolChoice: _tool, ...rest } = request;
  return {
    request: {
      ...rest,
      messages,
      tools,
      ...choice,
      ...(output === undefined ? {} : { output }),
      ...(native === undefined ? {} : { native }),
    },
    unsent,
  };
}

/** The fitted request, with the fields requested by the run's client that this provider cannot express in `unsent`; the agent's own settings do not count. */
export function fitFor(
  port: Port,
  request: GenerationRequest,
  { agent, request: asked }: { readonly agent: AgentDefinition; readonly request: RunRequest },
): Fitted {
  const fitted = fitTo(port, request, grantsFor(agent, asked));
  const ignored = port.ignores?.({ ...request, options: asked.options ?? {} }) ?? nothing;
  const own = asked.unsent ?? nothing;
  if (own.length + ignored.length === 0) return fitted;
  return { request: fitted.request, unsent: [...new Set([...own, ...fitted.unsent, ...ignored])] };
}

/** With `compat: strict`, before the run starts: every model of the chain must support every field. */
export function checkFields(agent: AgentDefinition, asked: RunRequest): void {
  const request = firstRequest(agent, asked, { model: agent.model.name });
  for (const target of agent.model.targets) {
    const fields = fitFor(target.port, request, { agent, request: asked }).unsent;
    if (fields.length === 0) continue;
    const message = `${target.name} does not support ${fields.join(", ")}; leave it out, or set compat: report on the channel`;
    throw new VenturiError("run.start", "invalid_input", message, { details: { fields, param: fields[0] } });
  }
}

/** Runs for every generation over the whole conversation, so it allocates only what changes. */
class Fit {
  readonly #wire: string | undefined;
  readonly #rights: { readonly rules: NativeRules | undefined; readonly grants: NativeGrants };
  unsent: Set<string> | undefined;
  /** True until something is removed. */
  intact = true;
  #closedTools = false;
  /** The tool choice that disables parallel calls, when a client of another wire format asked for that. */
  #single: Native["fields"] | undefined;

  constructor({ wire, nativeRules: rules }: Port, grants: NativeGrants) {
    this.#wire = wire;
    this.#rights = { rules, grants };
    keepOne(this);
  }

  /** The client's body fields. They cannot override vendor options set in the configuration. */
  native({ native: asked, nativeChoice, options }: GenerationRequest): NativeRequest | undefined {
    const translated = this.#translated(asked, nativeChoice);
    const native = translated === undefined ? asked : translated.native;
    if (native === undefined) return undefined;
    if (translated === undefined) this.keeps(native, "");
    const set = Object.fromEntries(Object.entries(options).filter(([name]) => !Object.hasOwn(generationOptions, name)));
    const rights = translated === undefined ? this.#rights : { ...this.#rights, grants: translated.grants };
    const { native: permitted, lost } = permittedNative(native, { ...rights, set });
    if (permitted !== native) this.intact = false;
    for (const name of lost) this.#lost(translated?.names.get(name) ?? name);
    return permitted;
  }

  /** Translates the client's fields into this wire format; undefined when they are in it already. */
  #translated(asked: NativeRequest | undefined, choice: Native | undefined) {
    const own = asked === undefined || asked.wire === this.#wire;
    const ofChoice = fieldsOfChoice(choice, this.#wire);
    if (own && Object.keys(ofChoice).length === 0) return undefined;
    this.intact = false;
    const translated = bodyAcross(asked ?? { wire: choice?.wire ?? "", fields: {} }, this.#wire);
    for (const name of translated.left) this.#lost(name);
    const { fields, choice: single } = choiceAcross(translated);
    this.#single = single;
    const all = { ...fields, ...ofChoice };
    const native = Object.keys(all).length === 0 ? undefined : { wire: this.#wire ?? "", fields: all };
    const { names } = translated;
    // A field opened under the client's name is also open under this wire's name.
    const opened = [...names].filter(([, name]) => isNativeOpen(this.#rights.grants, name)).map(([target]) => target);
    return { native, names, grants: bothGrants(this.#rights.grants, { native: opened }) };
  }

  /** Runs after the tools were fitted: vendors refuse a choice of a tool that is not offered. */
  choice({
    toolChoice,
    nativeChoice,
    tools,
  }: GenerationRequest): Pick<GenerationRequest, "toolChoice" | "nativeChoice"> {
    const kept = toolChoice === undefined ? {} : { toolChoice };
    if (this.#single !== undefined && tools.length > 0 && toolChoice !== "none") {
      const only = { wire: this.#wire ?? "", fields: this.#single };
      return { toolChoice: toolChoice ?? "auto", nativeChoice: only };
    }
    if (nativeChoice === undefined) return kept;
    if (nativeChoice.wire !== this.#wire && Object.keys(fieldsOfChoice(nativeChoice, this.#wire)).length > 0) {
      for (const name of untranslated(nativeChoice)) if (name !== singleCalls) this.#lost(name);
      return kept;
    }
    const names = Object.keys(nativeChoice.fields);
    const closed = this.#closedTools && untranslated(nativeChoice).length > 0;
    if (!closed && names.every((name) => name === "tool_choice" || name.startsWith("tool_choice."))) {
      return this.keeps(nativeChoice, "") ? { ...kept, nativeChoice } : kept;
    }
    this.intact = false;
    this.#lost("tool_choice");
    return closed ? {} : kept;
  }

  /** Whether the fields are in the provider's wire; if not, records what is lost. */
  keeps(native: Native | undefined, at: string): boolean {
    if (native === undefined) return true;
    if (native.wire === this.#wire) {
      for (const name of native.unsent ?? nothing) this.#lost(at + name);
      return true;
    }
    this.intact = false;
    for (const name of untranslated(native)) this.#lost(at + name);
    return false;
  }

  element<Element extends { readonly native?: Native | undefined }>(element: Element, at: string): Element {
    const { native } = element;
    if (native === undefined) return element;
    if (native.wire === this.#wire) {
      this.keeps(native, at);
      return element;
    }
    this.intact = false;
    const { fields, left } = elementAcross(native, this.#wire, at);
    for (const name of left) this.#lost(at + name);
    const { native: _, ...rest } = element;
    const own = Object.keys(fields).length === 0 ? {} : { native: { wire: this.#wire ?? "", fields } };
    return { ...rest, ...own } as Element; // Same element, with other native fields or none.
  }

  readonly message = (message: Message): Message => {
    // Parts that this provider produced are sent back to it, whatever wire format they name.
    const parts = this.each(message.parts, message.provider === undefined ? this.#part : this.#ownPart);
    const fitted = this.element(message, "messages.");
    return parts === message.parts ? fitted : { ...fitted, parts };
  };

  /** A vendor's own tool cannot be offered on other wires; one that the vendor executes must also be open to the caller. */
  readonly tool = (tool: ToolSpec): ToolSpec | undefined => {
    const { native } = tool;
    if (native === undefined) return tool;
    if (native.wire === this.#wire) {
      if (closedTool(native, this.#rights) === undefined) return this.element(tool, "tools.");
      this.intact = false;
      this.#closedTools = true;
      this.#lost(`tools.${native.fields.type}`);
      return undefined;
    }
    if (!isWhole(native) || native.translated?.includes("type")) {
      const fitted = this.element(tool, "tools.");
      // Next to native fields, providers send the schema unchanged, so it must be complete.
      return fitted.native === undefined ? fitted : { ...fitted, parameters: { type: "object", ...fitted.parameters } };
    }
    this.intact = false;
    this.#lost(`tools.${native.fields.type}`);
    return undefined;
  };

  readonly #ownPart = (part: Part): Part | undefined => {
    if (part.type !== "opaque") return this.#part(part);
    return closedToolIn(part.data, this.#rights) === undefined ? part : this.#without(typeOf(part.data));
  };

  readonly #part = (part: Part): Part | undefined => {
    if (part.type === "opaque") {
      const type = typeOf(part.data);
      const other = partAcross(part, this.#wire);
      if (other !== undefined) this.intact = false;
      if (other !== undefined) return other;
      return part.wire === this.#wire && this.#mayRefer(type) ? this.#ownPart(part) : this.#without(type);
    }
    if (part.type === "reasoning") return part;
    const { native } = part;
    if (native !== undefined && native.wire === this.#wire && closedToolIn(native.fields, this.#rights) !== undefined) {
      return this.#without(`${native.fields.type ?? part.type}`);
    }
    const fitted = this.element(part, "messages.content.");
    if (fitted.type !== "tool_result") return fitted;
    const isUnmarked = !fitted.ok && fitted !== part && !marksErrors(this.#wire);
    return this.#result(isUnmarked ? { ...fitted, output: `error: ${fitted.output}` } : fitted);
  };

  #without(type: string): undefined {
    this.intact = false;
    this.#lost(`messages.content.${type}`);
  }

  #mayRefer(type: string): boolean {
    return !referring.has(type) || isNativeOpen(this.#rights.grants, type);
  }

  #result(part: ToolResultPart): ToolResultPart {
    const at = "messages.content.";
    const images = part.images && this.each(part.images, (image) => this.element(image, at));
    const files = part.files && this.each(part.files, (file) => this.element(file, at));
    return images === part.images && files === part.files
      ? part
      : { ...part, ...(images && { images }), ...(files && { files }) };
  }

  #lost(field: string): void {
    this.unsent ??= new Set();
    this.unsent.add(field);
  }

  /** The list without the items that become undefined; the original unless an item changed. */
  each<Item>(items: readonly Item[], fit: (item: Item) => Item | undefined): Item[] {
    let changed: Item[] | undefined;
    for (let at = 0; at < items.length; at++) {
      const item = items[at] as Item; // `at` is below the length.
      const kept = fit(item);
      if (kept !== item) changed ??= items.slice(0, at);
      if (changed !== undefined && kept !== undefined) changed.push(kept);
    }
    return changed ?? (items as Item[]); // The request is read-only, so returning the original array is safe.
  }
}

/** Parts that refer to data stored at the vendor, possibly another caller's. Those the model produced are always allowed. */
const referring: ReadonlySet<string> = new Set(["container", "item_reference"]);

const typeOf = (data: unknown): string => {
  const type = typeof data === "object" && data !== null && "type" in data ? data.type : undefined;
  return typeof type === "string" ? type : "part";
};
