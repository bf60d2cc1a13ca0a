import "reflect-metadata";
import type { InjectionToken } from "tsyringe";

/** As long as the process, a reading of the config, or a run. */
export type Lifetime = "singleton" | "revision" | "run";

type Class = new (...needs: never[]) => object;

export interface Binding {
  readonly token: InjectionToken;
  readonly lifetime: Lifetime;
  /** Made by injecting what its constructor asks for. */
  readonly use?: Class;
  /** Made of what it needs, for classes that know no container. */
  readonly needs?: readonly InjectionToken[];
  readonly make?: (...needs: never[]) => unknown;
}

/** What a binding is made of: the tokens that its constructor injects, as the decorators noted them. */
export function needsOf({ use, needs = [] }: Binding): readonly InjectionToken[] {
  if (use === undefined) return needs;
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
