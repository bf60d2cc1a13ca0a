import type { LiveRun } from "../state/live.ts";
export const RequestView = (_: { live: LiveRun }) => <div />;
