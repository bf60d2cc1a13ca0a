import "reflect-metadata";
import type { InjectionToken } from "tsyringe";

/** Bound to the process, to a config revision, or to a run. */
export type Lifetime = "singleton" | "revision" | "run";

type Class = new (...needs: never[]) => object;

export interface Binding {
  readonly token: InjectionToken;
  readonly lifetime: Lifetime;
  /** Instantiated with constructor injection. */
  readonly use?: Class;
  /** Dependencies of classes that do not use the container's decorators. */
  readonly needs?: readonly InjectionToken[];
  readonly make?: (...needs: never[]) => unknown;
}

/** A binding's dependencies: the tokens its constructor injects, as recorded by the decorators. */
export function needsOf({ use, needs = [] }: Binding): readonly InjectionToken[] {
  if (use === undefined) return needs;
  let found = injected.get(use);
  if (found === undefined) {
    found = tokensOf(use);
    injected.set(use, found);
  }
  return found;
}

/** Cached by class: every run asks for those of its pipeline. */
const injected = new Map<Class, readonly InjectionToken[]>();

function tokensOf(use: Class): readonly InjectionToken[] {
  const noted: Readonly<Record<number, { readonly token: InjectionToken }>> =
    Reflect.getOwnMetadata("injectionTokens", use) ?? {};
  return Object.keys(noted)
    .sort((left, right) => Number(left) - Number(right))
    .flatMap((index) => noted[Number(index)]?.token ?? []);
}

export function nameOf(token: InjectionToken): string {
  if (typeof token === "symbol") return token.description ?? "?";
  return typeof token === "function" ? token.name : String(token);
}
