import { keepOne } from "../../core/values/keep-one.ts";

/** Validates one keyword or a whole schema. */
export type Check = (value: unknown, checking: Checking, path: string) => boolean;

export interface Problem {
  /** JSON Pointer of the invalid value; empty for the root. */
  readonly path: string;
  readonly message: string;
}

/** The check exceeded its step budget. */
export class TooCostly extends Error {}

/** Step budget of one check, each well under a microsecond: bounds how long an untrusted schema can block the process. */
const mostSteps = 2_000_000;
const mostProblems = 16;

/** State of one validation: problems found and steps spent. */
export class Checking {
  readonly problems: Problem[] = [];
  #steps = mostSteps;

  constructor() {
    keepOne(this);
  }

  /** Schemas with references can demand exponential work on a small value, so work is counted as it happens. */
  spend(steps: number): void {
    this.#steps -= steps;
    if (this.#steps < 0) throw new TooCostly();
  }

  /** Records a problem; always returns false. */
  misfit(path: string, message: string): false {
    if (this.problems.length < mostProblems) this.problems.push({ path, message });
    return false;
  }

  /** Whether the value is valid, discarding the problems of a failed branch. */
  tries(check: Check, value: unknown, path: string): boolean {
    const before = this.problems.length;
    const fits = check(value, this, path);
    if (fits) this.problems.length = before;
    return fits;
  }
}

/** Runs all checks, so that all problems are reported. */
export function every(checks: readonly Check[]): Check {
  const [only] = checks;
  if (only !== undefined && checks.length === 1) return only;
  return (value, checking, path) => {
    let fits = true;
    for (const check of checks) if (!check(value, checking, path)) fits = false;
    return fits;
  };
}
