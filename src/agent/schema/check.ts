/** One test of a value: of a keyword, or of a whole schema. */
export type Check = (value: unknown, checking: Checking, path: string) => boolean;

export interface Problem {
  /** JSON Pointer of the value that does not fit; empty for the whole. */
  readonly path: string;
  readonly message: string;
}

/** A check would take longer than anyone may keep the process busy. */
export class TooCostly extends Error {}

/** Steps of one check, each well below a microsecond: so long a stranger's schema may keep the process busy. */
const mostSteps = 2_000_000;
const mostProblems = 16;

/** One value being checked: what was found, and how much work it has been. */
export class Checking {
  readonly problems: Problem[] = [];
  #steps = mostSteps;

  /** Counts work. Schemas with references can ask for exponential work on a small value, whatever is known beforehand. */
  spend(steps: number): void {
    this.#steps -= steps;
    if (this.#steps < 0) throw new TooCostly();
  }

  /** Notes a misfit; always false. */
  misfit(path: string, message: string): false {
    if (this.problems.length < mostProblems) this.problems.push({ path, message });
    return false;
  }

  /** Whether the value fits, leaving no word of it when it does not matter. */
  tries(check: Check, value: unknown, path: string): boolean {
    const before = this.problems.length;
    const fits = check(value, this, path);
    if (fits) this.problems.length = before;
    return fits;
  }
}

/** Whether every check holds; all are made, so that all misfits are told. */
export function every(checks: readonly Check[]): Check {
  const [only] = checks;
  if (only !== undefined && checks.length === 1) return only;
  return (value, checking, path) => {
    let fits = true;
    for (const check of checks) if (!check(value, checking, path)) fits = false;
    return fits;
  };
}
