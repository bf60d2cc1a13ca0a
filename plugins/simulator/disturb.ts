import type { Plan } from "./plan.ts";
import type { Route, Wire, WireFrame } from "./wire.ts";

export interface Disturbance {
  readonly plan: Plan;
  readonly wire: Wire;
  readonly route: Route;
}

/** Applies the plan's faults to the frames. Chunks count from 1, before any insertions. */
export function disturb(frames: readonly WireFrame[], { plan, wire, route }: Disturbance): readonly WireFrame[] {
  const { malformed, error, unknown } = plan;
  let result = frames;
  if (malformed !== undefined) {
    const at = Math.max(1, malformed(frames.length));
    result = result.map((frame, position) => (position === at - 1 ? { ...frame, text: wire.malformed } : frame));
  }
  if (unknown !== undefined) result = result.toSpliced(Math.max(0, unknown(frames.length) - 1), 0, extra(wire.unknown));
  if (error !== undefined) {
    result = [...result.slice(0, error.at(frames.length)), extra(wire.broken(error.failure, route))];
  }
  if (plan.comments && wire.contentType(route).startsWith("text/event-stream")) result = result.flatMap(commented);
  if (plan.crlf) result = result.map((frame) => ({ ...frame, text: frame.text.replaceAll(/\r?\n/g, "\r\n") }));
  return result;
}

const extra = (text: string): WireFrame => ({ text, paced: false });

const commented = (frame: WireFrame): WireFrame[] => (frame.paced ? [extra(": keep-alive\n\n"), frame] : [frame]);
