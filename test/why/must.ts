import { expect } from "chai";
import type { Cause } from "../../src/serve/why/causes.ts";
import type { Why } from "../../src/serve/why/why.ts";
import { pause } from "./house.ts";

export const partOf = ({ parts }: Why, part: string): number =>
  parts.reduce((sum, each) => sum + (each.part === part ? each.ms : 0), 0);

/** The cause, what the paragraph names, and parts that add up. */
export function must(why: Why, cause: Cause, ...says: readonly RegExp[]): void {
  expect(why.cause, `${why.summary} ${JSON.stringify(why.parts)}`).to.equal(cause);
  for (const pattern of says) expect(why.summary).to.match(pattern);
  const sum = why.parts.reduce((total, { ms }) => total + ms, 0);
  expect(Math.abs(sum - why.ms)).to.be.at.most(why.parts.length);
}

export async function waitFor(isTrue: () => Promise<boolean>, ms = 15_000): Promise<void> {
  for (const end = performance.now() + ms; performance.now() < end; await pause(100)) if (await isTrue()) return;
  throw new Error(`not within ${ms} ms`);
}

export const toolModule = (name: string, body: string): string =>
  `export const ${name} = { description: "${name}", parameters: { type: "object" }, effect: "effectful", ${body} };\n`;
