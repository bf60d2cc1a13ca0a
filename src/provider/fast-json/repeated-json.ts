import { Form, type Template, templateFor, type Varying, valueAt } from "./template.ts";
import { parseJson } from "./wire-json.ts";

/** Number of templates kept: streams alternate between a few shapes. */
const most = 4;
const mostShared = 16;
/** Number of texts to learn from before giving up. */
const patience = 6;
/** Number of texts only parsed at first: learning a shape takes as long as parsing 20, more than a short stream has. */
const short = 5;

/**
 * Templates shared from one stream to the next. Useful only where streams differ in varying values alone: an id fixed within a
 * stream but different in the next would make the template useless.
 */
export class SharedForms {
  readonly #templates: Template[] = [];

  find(text: string): Template | undefined {
    return this.#templates.find((template) => template.read(text, undefined));
  }

  add(template: Template): void {
    if (this.#templates.unshift(template) > mostShared) this.#templates.pop();
  }
}

/**
 * `JSON.parse` for the texts of one stream. Adjacent texts are byte-identical except for a few values, so each is compared with an earlier
 * one and only the varying values are read. The result is exactly that of `JSON.parse`; a text that fits no template is parsed. It is valid
 * until the next parse by any stream that shares its forms. `node --expose-gc bench/tricks.mjs` shows both times for Chat Completions.
 */
export class RepeatedJson {
  readonly #varying: readonly Varying[];
  readonly #shared: SharedForms | undefined;
  #forms: readonly Form[] = [];
  #patience = patience;
  #parsed = 0;
  /** Which of the varying values the last parsed text had, one bit each. */
  #seen = 0;

  constructor(varying: readonly Varying[], shared?: SharedForms) {
    this.#varying = varying;
    this.#shared = shared;
  }

  /** The value of a JSON text; undefined when it is invalid. */
  parse(text: string): unknown {
    const forms = this.#forms;
    for (let i = 0; i < forms.length; i++) {
      const form = forms[i] as Form; // `i` is below the length.
      if (!form.template.read(text, form)) continue;
      if (i > 0) this.#forms = [form, ...forms.filter((other) => other !== form)];
      if (this.#patience < patience) this.#patience++;
      return form.template.value;
    }
    const known = this.#shared?.find(text);
    if (known !== undefined) {
      this.#keep(known);
      return known.value;
    }
    const value = parseJson(text);
    if (++this.#parsed > short && this.#patience > 0 && typeof value === "object" && value !== null)
      this.#learn(text, value);
    return value;
  }

  #learn(text: string, value: object): void {
    let present = 0;
    for (const [index, { path, skipped }] of this.#varying.entries())
      if (!skipped && valueAt(value, path) !== undefined) present |= 1 << index;
    const seen = this.#seen;
    this.#seen = present;
    // Wait for a second text of the same shape: one may be unique, such as a stream's opening event.
    if (present === 0 || present !== seen) return;
    this.#patience--;
    const template = templateFor(text, value, this.#varying);
    if (template === undefined) return;
    this.#keep(template);
    this.#shared?.add(template);
  }

  #keep(template: Template): void {
    this.#forms = [new Form(template), ...this.#forms].slice(0, most);
  }
}
