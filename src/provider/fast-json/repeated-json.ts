import { parseJson } from "../wire-json.ts";
import { type Template, templateFor, type Varying, valueAt } from "./template.ts";

/** Templates that are kept: a stream goes back and forth between few shapes, and so do all streams together. */
const most = 4;
const mostShared = 16;
/** Texts that may be learned from without one of them being of use. */
const patience = 6;

/**
 * Templates that one stream leaves to the next. Worth it where streams differ only in values that vary: a text with an id
 * of its stream's own would only be in the way.
 */
export class SharedForms {
  readonly #templates: Template[] = [];

  find(text: string): Template | undefined {
    return this.#templates.find((template) => template.read(text));
  }

  add(template: Template): void {
    if (this.#templates.unshift(template) > mostShared) this.#templates.pop();
  }
}

/**
 * `JSON.parse` for the texts of one stream. Neighbours are byte for byte the same but for a few values, so what was parsed
 * once serves for all of them: each text is compared with the last one's, and only the values that vary are read. The answer
 * is exactly what `JSON.parse` gives; a text that fits no template is parsed. It is valid until the next text is parsed, of
 * any stream that shares its forms.
 */
export class RepeatedJson {
  readonly #varying: readonly Varying[];
  readonly #shared: SharedForms | undefined;
  readonly #templates: Template[] = [];
  #patience = patience;
  /** Where the last text that was parsed has what varies. */
  #seen = "";

  constructor(varying: readonly Varying[], shared?: SharedForms) {
    this.#varying = varying;
    this.#shared = shared;
  }

  /** The value of a JSON text; undefined when it is none. */
  parse(text: string): unknown {
    const templates = this.#templates;
    for (let i = 0; i < templates.length; i++) {
      const template = templates[i] as Template; // below the length
      if (!template.read(text)) continue;
      if (i > 0) templates.unshift(...templates.splice(i, 1));
      if (this.#patience < patience) this.#patience++;
      return template.value;
    }
    const known = this.#shared?.find(text);
    if (known !== undefined) {
      this.#keep(known);
      return known.value;
    }
    const value = parseJson(text);
    if (this.#patience > 0 && typeof value === "object" && value !== null) this.#learn(text, value);
    return value;
  }

  #learn(text: string, value: object): void {
    const present = this.#varying.filter(({ path, skipped }) => !skipped && valueAt(value, path) !== undefined);
    const seen = this.#seen;
    this.#seen = present.map(({ path }) => path.join()).join(" ");
    // The first of a kind is often the only one of its form: it opens what the others go on with.
    if (this.#seen === "" || this.#seen !== seen) return;
    this.#patience--;
    const template = templateFor(text, value, this.#varying);
    if (template === undefined) return;
    this.#keep(template);
    this.#shared?.add(template);
  }

  #keep(template: Template): void {
    if (this.#templates.unshift(template) > most) this.#templates.pop();
  }
}
