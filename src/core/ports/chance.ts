import { randomUUID } from "node:crypto";
import { token } from "../values/token.ts";

/** Source of randomness; a simulation replaces it. */
export interface Chance {
  /** From 0 up to, but not including, 1. For jitter only: predictable. */
  random(): number;
  /** Unguessable and unique. */
  uuid(): string;
}
export const Chance = token<Chance>("Chance");

export const systemChance: Chance = { random: Math.random, uuid: () => randomUUID() };
