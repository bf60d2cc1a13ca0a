import type { Plan } from "./plan.ts";
import type { Wire, WireFrame } from "./wire.ts";

/** The frames with what the plan breaks in them. Chunks are counted from 1, as they were before anything was put in. */
export function disturb(frames: readonly WireFrame[], plan: Plan, wire: Wire): readonly WireFrame[] {
  const { malformed, error, unknown } = plan;
  let result = frames;
  if (malformed !== undefined) {
    const at = Math.max(1, malformed(frames.length));
    result = result.map((frame, position) => (position === at - 1 ? { ...frame, text: wire.malformed } : frame));
  }
  if (unknown !== undefined) result = result.toSpliced(Math.max(0, unknown(frames.length) - 1), 0, extra(wire.unknown));
  if (error !== undefined) {
    result = [...result.slice(0, error.at(frames.length)), extra(wire.broken(error.failure))];
  }
  if (plan.comments && wire.contentType.startsWith("text/event-stream")) result = result.flatMap(commented);
  if (plan.crlf) result = result.map((frame) => ({ ...frame, text: frame.text.replaceAll("\n", "\r\n") }));
  return result;
}

const extra = (text: string): WireFrame => ({ text, paced: false });

const commented = (frame: WireFrame): WireFrame[] => (frame.paced ? [extra(": keep-alive\n\n"), frame] : [frame]);
