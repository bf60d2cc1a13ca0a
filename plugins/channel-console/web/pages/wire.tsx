import type { LiveRun } from "../state/live.ts";
export const WireView = (_: { live: LiveRun }) => <div />;
