import type { LiveRun } from "../state/live.ts";
export const ForkDialog = (_: { live: LiveRun; after: number; close: () => void }) => <div />;
