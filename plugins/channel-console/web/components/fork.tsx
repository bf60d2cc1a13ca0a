import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { LiveRun } from "../state/live.ts";
import { instructionsOf, usePrompt } from "../state/prompt.ts";
import { go, query, to } from "../state/router.ts";
import { agents, client, may } from "../state/session.ts";
import { printable } from "../text/printable.ts";
import { short } from "../text/words.ts";
import { Dialog, Problem } from "./dialog.tsx";
import { Icon } from "./icon.tsx";

const steps = new Set(["run.started", "generation.finished", "tool.finished", "round.finished"]);
const policies = [
  { name: "recorded", word: "Recorded", hint: "calls get the results they had; nothing runs, other calls ask" },
  { name: "run", word: "Run pure ones", hint: "tools without effects run, the others ask" },
  { name: "ask", word: "Ask", hint: "every call asks a person" },
] as const;

interface ForkProps {
  readonly live: LiveRun;
  readonly after: number;
  readonly close: () => void;
}

/** Starts a new run from a step of this one, with changes. */
export function ForkDialog({ live, after, close }: ForkProps): JSX.Element {
  const events = live.events.filter(({ type }) => steps.has(type));
  const nearest = events.filter(({ seq }) => seq <= after).at(-1)?.seq ?? 1;
  const step = useSignal(nearest);
  const original = live.whole.started?.input.text ?? "";
  const input = useSignal(original);
  const outputs = useSignal<Readonly<Record<string, string>>>({});
  const model = useSignal("");
  const instructions = useSignal<string | undefined>(undefined);
  const variants = useSignal(1);
  const before = instructionsOf(usePrompt(live.id, 1).data);
  const temperature = useSignal("");
  const tools = useSignal<string>("recorded");
  const busy = useSignal(false);
  const problem = useSignal("");
  const agent = agents.value.find(({ name }) => name === live.whole.agent);
  const results = live.events.flatMap((event) =>
    event.type === "tool.finished" && event.seq <= step.value ? [event] : [],
  );
  const submit = async (event: Event) => {
    event.preventDefault();
    busy.value = true;
    problem.value = "";
    const edit = Object.entries(outputs.value).map(([call, output]) => ({ call, output }));
    const body = {
      after: step.value,
      tools: tools.value,
      ...(step.value === 1 && input.value !== original ? { input: input.value } : {}),
      ...(edit.length === 0 ? {} : { edit }),
      ...(model.value === "" ? {} : { model: model.value }),
      ...(instructions.value === undefined || instructions.value === before
        ? {}
        : { instructions: instructions.value }),
      ...(temperature.value === "" ? {} : { options: { temperature: Number(temperature.value) } }),
    };
    try {
      const path = `/v1/runs/${encodeURIComponent(live.id)}/fork`;
      const runs: string[] = [];
      for (let made = 0; made < variants.value; made += 1) {
        const call = { op: "run.fork", method: "POST", path, body } as const;
        runs.push((await client.value.request<{ run: string }>(call)).run);
      }
      close();
      // Keeps earlier variants next to the new ones.
      const kept = query.value.get("a") === live.id ? (query.value.get("v") ?? query.value.get("b") ?? "") : "";
      const all = [...kept.split(",").filter(Boolean), ...runs].slice(-8);
      const words = new URLSearchParams({
        a: live.id,
        b: runs.at(-1) ?? "",
        ...(all.length > 1 ? { v: all.join(",") } : {}),
      });
      go(`${to("compare")}?${words}`);
    } catch (thrown) {
      problem.value = thrown instanceof Error ? thrown.message : String(thrown);
    } finally {
      busy.value = false;
    }
  };
  return (
    <Dialog
      title="Edit and run again"
      close={close}
      submit={submit}
      foot={
        <button type="submit" class="primary" disabled={busy.value}>
          <Icon name="fork" size={14} /> Run again and compare
        </button>
      }
    >
      <p class="muted">
        A new run takes over everything up to a step and goes on from there. The original stays as it is.
      </p>
      <label class="field">
        <span class="field-name">Up to</span>
        <select value={step.value} onChange={(event) => (step.value = Number(event.currentTarget.value))}>
          {events.map((event) => (
            <option key={event.seq} value={event.seq}>
              {event.seq}: {event.type === "run.started" ? "the beginning" : event.type}
              {"name" in event ? ` ${event.name}` : ""}
            </option>
          ))}
        </select>
      </label>
      {step.value === 1 ? (
        <label class={input.value === original ? "field" : "field changed"}>
          <span class="field-name">Message</span>
          <textarea rows={3} value={input.value} onInput={(event) => (input.value = event.currentTarget.value)} />
        </label>
      ) : null}
      {results.map(({ call, name, output = "" }) => {
        const text = outputs.value[call];
        return (
          <label key={call} class={text === undefined ? "field" : "field changed"}>
            <span class="field-name">
              Result of {printable(name)} <span class="faint">{printable(short(call, 24))}</span>
            </span>
            <textarea
              rows={2}
              class="mono"
              value={text ?? output}
              onInput={(event) => {
                const { [call]: _, ...rest } = outputs.value;
                const typed = event.currentTarget.value;
                outputs.value = typed === output ? rest : { ...rest, [call]: typed };
              }}
            />
          </label>
        );
      })}
      <div class="field-row">
        <label class="field">
          <span class="field-name">Model</span>
          <select value={model.value} onChange={(event) => (model.value = event.currentTarget.value)}>
            <option value="">as before</option>
            {(agent?.models ?? []).map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          <span class="field-name">Temperature</span>
          <input
            type="number"
            step="0.1"
            min="0"
            max="2"
            placeholder="as before"
            value={temperature.value}
            onInput={(event) => (temperature.value = event.currentTarget.value)}
          />
        </label>
      </div>
      <label class="field">
        <span class="field-name">Variants</span>
        <input
          type="number"
          min="1"
          max="5"
          value={variants.value}
          onInput={(event) => (variants.value = Math.min(5, Math.max(1, Number(event.currentTarget.value) || 1)))}
        />
      </label>
      {may("inspect") ? (
        <label class="field">
          <span class="field-name">Instructions</span>
          <textarea
            rows={3}
            dir="auto"
            value={instructions.value ?? before}
            onInput={(event) => (instructions.value = event.currentTarget.value)}
          />
        </label>
      ) : null}
      <fieldset class="choices">
        <legend class="field-name">Tools</legend>
        {policies.map(({ name, word, hint }) => (
          <label key={name} class="check">
            <input type="radio" name="tools" checked={tools.value === name} onChange={() => (tools.value = name)} />
            <span>
              {word} <span class="faint">{hint}</span>
            </span>
          </label>
        ))}
      </fieldset>
      <Problem text={problem.value} />
    </Dialog>
  );
}
