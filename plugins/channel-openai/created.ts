import { timeOfRunId } from "venturi/internal";

/** When the run was requested, s: the same in every reply about it. `otherwise`, ms: for ids that do not say it. */
export const createdOf = (run: string, otherwise: number): number => Math.floor((timeOfRunId(run) ?? otherwise) / 1000);
