import type { JSX } from "preact";
import { printable } from "../text/printable.ts";
import { Icon } from "./icon.tsx";

const template = document.querySelector<HTMLMetaElement>('meta[name="venturi-trace-url"]')?.content ?? "";

/** The id in `00-TRACE-SPAN-01`, or a trace id by itself. */
const traceId = (trace: string): string => trace.split("-")[1] ?? trace;

/** The run's trace id: a link if the console's `traceUrl` is configured. */
export function TraceLink({ trace, short = false }: { trace: string; short?: boolean }): JSX.Element | null {
  const id = traceId(trace);
  const link =
    template === "" ? null : (
      <a
        class={short ? "button" : "mono"}
        title={short ? "Trace" : undefined}
        href={template.replaceAll("{traceId}", encodeURIComponent(id))}
        target="_blank"
        rel="noopener noreferrer"
      >
        {short ? (
          <>
            <Icon name="panel" size={14} /> <span class="wide-only">Trace</span>
          </>
        ) : (
          printable(id)
        )}
      </a>
    );
  return link ?? (short ? null : <span class="mono">{printable(id)}</span>);
}
