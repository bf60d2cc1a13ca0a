import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { slowerThanUsual } from "../fold/usual.ts";
import type { RunRow, Why } from "../state/api-types.ts";
import { lit } from "../state/lit.ts";
import { useMedians } from "../state/medians.ts";
import { useResource } from "../state/resource.ts";
import { client } from "../state/session.ts";
import { printable } from "../text/printable.ts";
import { partOfSentence, sentencesOf } from "../text/sentences.ts";
import { duration } from "../text/words.ts";
import { partWords } from "./ribbon.tsx";

interface WhyProps {
  readonly run: string;
  readonly ended: boolean;
  readonly row: RunRow | undefined;
}

/** The service's answer to "why was it slow, why did it fail?", requested again when the run ends. */
export function WhyLine({ run, ended, row }: WhyProps): JSX.Element | null {
  const { data } = useResource(
    (signal) => client.value.request<Why>({ op: "run.why", path: `/v1/runs/${encodeURIComponent(run)}/why`, signal }),
    [run, ended],
  );
  const usual = useMedians(ended ? (row?.agent ?? "") : "");
  useEffect(
    () => () => {
      lit.value = undefined;
    },
    [run],
  );
  const whole = useSignal(false);
  if (data === undefined || !ended) return null;
  const sentences = sentencesOf(data.summary);
  const slow = row?.digest === undefined || usual === undefined ? undefined : slowerThanUsual(row.digest, usual);
  return (
    <p class={whole.value ? "why whole" : "why"}>
      <span class="tag" title={printable(data.meaning)}>
        {printable(data.cause === "nothing" ? "as usual" : data.cause.replaceAll("_", " "))}
      </span>
      {sentences.map((sentence, index) => {
        const found = partOfSentence(sentence, data.parts);
        if (found === undefined) return <span key={index}>{printable(sentence)} </span>;
        const isLit = lit.value?.part === found.part && lit.value.name === found.name;
        return (
          <button
            key={index}
            type="button"
            class="sentence"
            aria-pressed={isLit}
            title="Show it in the ribbon"
            onClick={() => {
              lit.value = isLit ? undefined : { part: found.part, name: found.name };
            }}
          >
            {printable(sentence)}
          </button>
        );
      })}
      {slow === undefined ? null : (
        <span class="slower">
          {" "}
          Slower than usual ({duration(slow.usual)}, the median of {slow.count} runs) because{" "}
          {partWords[slow.part].toLowerCase()} took {duration(slow.ms)} instead of {duration(slow.usualMs)}.
        </span>
      )}
      {whole.value || (sentences.length < 2 && slow === undefined) ? null : (
        <button type="button" class="sentence narrow-only" onClick={() => (whole.value = true)}>
          More
        </button>
      )}
    </p>
  );
}
