import { VenturiError } from "../../core/errors.ts";
import type { Message, Part, ToolResultPart } from "../../core/messages.ts";
import { isWhole, type Native, untranslated } from "../../core/native.ts";
import type { GenerationRequest, Provider, ToolSpec } from "../../core/provider.ts";
import type { RunRequest } from "../../core/run-request.ts";
import type { AgentDefinition } from "../definition.ts";
import { firstRequest } from "./first-request.ts";

export interface Fitted {
  /** The request without native fields of other wires. */
  readonly request: GenerationRequest;
  /** Removed fields that reach the model in no other way, in the client's terms, deduplicated. */
  readonly unsent: readonly string[];
}

const nothing: readonly string[] = [];

type Port = Pick<Provider, "wire" | "ignores">;

/** The request as a provider may see it. Copies only if something must be removed. */
export function fitTo(port: Port, request: GenerationRequest): Fitted {
  const fit = new Fit(port.wire);
  const own = fit.keeps(request.native, "");
  const choice = fit.keeps(request.nativeChoice, "");
  const messages = fit.each(request.messages, fit.message);
  const tools = fit.each(request.tools, fit.tool);
  const output = request.output && fit.element(request.output, "response_format.");
  if (fit.intact) return { request, unsent: nothing };
  const { native, nativeChoice, ...rest } = request;
  return {
    request: {
      ...rest,
      messages,
      tools,
      ...(output === undefined ? {} : { output }),
      ...(own && native !== undefined ? { native } : {}),
      ...(choice && nativeChoice !== undefined ? { nativeChoice } : {}),
    },
    unsent: [...(fit.unsent ?? nothing)],
  };
}

/** The fitted request, with the fields requested by the run's client that this provider cannot express in `unsent`; the agent's own settings do not count. */
export function fitFor(port: Port, request: GenerationRequest, asked: RunRequest): Fitted {
  const fitted = fitTo(port, request);
  const ignored = port.ignores?.({ ...request, options: asked.options ?? {} }) ?? nothing;
  const own = asked.unsent ?? nothing;
  if (own.length + ignored.length === 0) return fitted;
  return { request: fitted.request, unsent: [...new Set([...own, ...fitted.unsent, ...ignored])] };
}

/** With `compat: strict`, before the run starts: every model of the chain must support every field. */
export function checkFields(agent: AgentDefinition, asked: RunRequest): void {
  const request = firstRequest(agent, asked, { model: agent.model.name });
  for (const target of agent.model.targets) {
    const fields = fitFor(target.port, request, asked).unsent;
    if (fields.length === 0) continue;
    const message = `${target.name} does not support ${fields.join(", ")}; leave it out, or set compat: report on the channel`;
    throw new VenturiError("run.start", "invalid_input", message, { details: { fields, param: fields[0] } });
  }
}

/** Runs for every generation over the whole conversation, so it allocates only what changes. */
class Fit {
  readonly #wire: string | undefined;
  unsent: Set<string> | undefined;
  /** Nothing was removed so far. */
  intact = true;

  constructor(wire: string | undefined) {
    this.#wire = wire;
  }

  /** Whether the fields are in the provider's wire; if not, records what is lost. */
  keeps(native: Native | undefined, at: string): boolean {
    if (native === undefined || native.wire === this.#wire) return true;
    this.intact = false;
    for (const name of untranslated(native)) this.#lost(at + name);
    return false;
  }

  element<Element extends { readonly native?: Native | undefined }>(element: Element, at: string): Element {
    if (this.keeps(element.native, at)) return element;
    const { native: _, ...rest } = element;
    return rest as Element; // the same without its optional field
  }

  readonly message = (message: Message): Message => {
    // The provider's own parts are sent back to it, whatever it calls its wire.
    const parts = this.each(message.parts, message.provider === undefined ? this.#part : this.#ownPart);
    const fitted = this.element(message, "messages.");
    return parts === message.parts ? fitted : { ...fitted, parts };
  };

  /** A vendor-only tool cannot be offered on other wires. */
  readonly tool = (tool: ToolSpec): ToolSpec | undefined => {
    const { native } = tool;
    if (native === undefined || native.wire === this.#wire) return tool;
    if (!isWhole(native) || native.translated?.includes("type")) return this.element(tool, "tools.");
    this.intact = false;
    this.#lost(`tools.${native.fields.type}`);
    return undefined;
  };

  readonly #ownPart = (part: Part): Part | undefined => (part.type === "opaque" ? part : this.#part(part));

  readonly #part = (part: Part): Part | undefined => {
    if (part.type === "opaque") {
      if (part.wire === this.#wire) return part;
      this.intact = false;
      this.#lost(`messages.content.${typeOf(part.data)}`);
      return undefined;
    }
    if (part.type === "reasoning") return part;
    const fitted = this.element(part, "messages.content.");
    return fitted.type === "tool_result" ? this.#result(fitted) : fitted;
  };

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
      const item = items[at] as Item; // below the length
      const kept = fit(item);
      if (kept !== item) changed ??= items.slice(0, at);
      if (changed !== undefined && kept !== undefined) changed.push(kept);
    }
    return changed ?? (items as Item[]); // safe: the request is read-only
  }
}

const typeOf = (data: unknown): string => {
  const type = typeof data === "object" && data !== null && "type" in data ? data.type : undefined;
  return typeof type === "string" ? type : "part";
};
