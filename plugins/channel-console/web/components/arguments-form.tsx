import type { Signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { ClientError } from "venturi/client";
import { printable } from "../text/printable.ts";
import { stringify } from "./json.tsx";

export interface FieldSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
}

export interface ToolSchema {
  readonly properties?: Readonly<Record<string, FieldSchema>>;
  readonly required?: readonly string[];
}

/** Each value as typed. */
export type Draft = Readonly<Record<string, string>>;

const isText = (value: unknown, schema: FieldSchema | undefined): boolean =>
  typeof value === "string" || (value === undefined && (schema?.type === undefined || schema.type === "string"));

export function draftOf(values: Readonly<Record<string, unknown>>, schema: ToolSchema | undefined): Draft {
  const names = new Set([...Object.keys(values), ...Object.keys(schema?.properties ?? {})]);
  return Object.fromEntries([...names].map((name) => [name, textOf(values[name])]));
}

const textOf = (value: unknown): string =>
  value === undefined ? "" : typeof value === "string" ? value : stringify(value, 0);

/** Parses the typed values. Unchanged fields keep their value; strings stay strings, anything else is JSON. */
export function readDraft(
  draft: Draft,
  original: Readonly<Record<string, unknown>>,
  schema: ToolSchema | undefined,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(draft)) {
    const before = original[name];
    const field = schema?.properties?.[name];
    if (text === textOf(before)) {
      if (before !== undefined) values[name] = before;
      continue;
    }
    if (text === "" && !isText(before, field)) continue;
    if (isText(before, field)) values[name] = text;
    else values[name] = parse(name, text);
  }
  return values;
}

function parse(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new FieldError(name, `${name} is not valid JSON`);
  }
}

/** A problem with one field, shown next to it. */
export class FieldError extends Error {
  readonly field: string;

  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

/** The field an error is about, reported by the form or by the service. */
export function fieldOf(thrown: unknown): string | undefined {
  if (thrown instanceof FieldError) return thrown.field;
  const input = thrown instanceof ClientError ? thrown.details?.input : undefined;
  return typeof input === "string" ? input : undefined;
}

/** Throws for the first required field that is empty. */
export function requireAll(draft: Draft, schema: ToolSchema | undefined): void {
  for (const name of schema?.required ?? []) {
    if ((draft[name] ?? "") === "") throw new FieldError(name, `${name} is missing`);
  }
}

/** What is wrong, and where. */
export interface FieldProblem {
  readonly field: string;
  readonly text: string;
}

export const problemOf = (thrown: unknown): FieldProblem | undefined => {
  const field = fieldOf(thrown);
  return field === undefined ? undefined : { field, text: thrown instanceof Error ? thrown.message : String(thrown) };
};

interface FormProps {
  readonly draft: Signal<Draft>;
  /** Baseline for marking changed values; undefined: mark nothing. */
  readonly original: Readonly<Record<string, unknown>> | undefined;
  readonly schema: ToolSchema | undefined;
  readonly problem?: FieldProblem | undefined;
}

/** Renders arguments as form fields from the tool's JSON Schema; changed ones are marked. */
export function ArgumentsForm({ draft, original, schema, problem }: FormProps): JSX.Element {
  const form = useRef<HTMLDivElement>(null);
  const id = useId();
  useEffect(() => form.current?.querySelector<HTMLElement>("[aria-invalid=true]")?.focus(), [problem]);
  const set = (name: string, text: string) => {
    draft.value = { ...draft.value, [name]: text };
  };
  return (
    <div class="arguments" ref={form}>
      {Object.entries(draft.value).map(([name, text]) => {
        const field = schema?.properties?.[name];
        const changed = original !== undefined && text !== textOf(original[name]);
        const required = schema?.required?.includes(name) === true;
        return (
          // biome-ignore lint/a11y/noLabelWithoutControl: Field is the control
          <label key={name} class={changed ? "field changed" : "field"}>
            <span class="field-name">
              {printable(name)}
              {required ? null : <span class="faint"> optional</span>}
              {changed ? <em> changed</em> : null}
            </span>
            <Field name={name} text={text} field={field} set={set} wrong={problem?.field === name ? id : undefined} />
            {problem?.field === name ? (
              <span class="problem" id={id} role="alert">
                {printable(problem.text)}
              </span>
            ) : null}
            {field?.description === undefined ? null : <span class="faint">{printable(field.description)}</span>}
          </label>
        );
      })}
    </div>
  );
}

interface FieldProps {
  readonly name: string;
  readonly text: string;
  readonly field: FieldSchema | undefined;
  readonly set: (name: string, text: string) => void;
  /** Id of the element with the error message. */
  readonly wrong: string | undefined;
}

function Field({ name, text, field, set, wrong }: FieldProps): JSX.Element {
  const state = wrong === undefined ? {} : { "aria-invalid": true, "aria-describedby": wrong };
  const choices = field?.type === "boolean" ? ["true", "false"] : field?.enum?.map(textOf);
  if (choices !== undefined) {
    return (
      <select {...state} value={text} onChange={(event) => set(name, event.currentTarget.value)}>
        {choices.includes(text) ? null : <option value={text}>{text}</option>}
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {choice}
          </option>
        ))}
      </select>
    );
  }
  const isNumber = field?.type === "number" || field?.type === "integer";
  if (text.length > 60 || text.includes("\n")) {
    return <textarea {...state} rows={4} value={text} onInput={(event) => set(name, event.currentTarget.value)} />;
  }
  return (
    <input
      {...state}
      value={text}
      inputMode={isNumber ? "decimal" : "text"}
      onInput={(event) => set(name, event.currentTarget.value)}
    />
  );
}
