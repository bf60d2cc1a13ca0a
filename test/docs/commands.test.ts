import { join } from "node:path";
import { expect } from "chai";
import { isSlow } from "../sweep.ts";
import { type Checkout, sharedCheckout } from "./checkout.ts";
import { blocksOf, isRun, nameOf, pages } from "./pages.ts";

/** Pages that a newcomer reads; the others are for `npm run test:slow`, each command starts a process or more. */
const first = /^(README|docs\/(quickstart|how-to|http|questions|operations))\.md$/;

describe("commands in the pages, against a running service", function () {
  this.timeout(180_000);
  let checkout: Checkout;
  before(async () => {
    checkout = await sharedCheckout();
    checkout.place(pages().flatMap(blocksOf));
  });

  for (const block of pages()
    .flatMap(blocksOf)
    .filter((each) => each.language === "sh" && isRun(each) && (isSlow || first.test(each.page)))) {
    it(`${nameOf(block)} works as it stands`, async () => {
      const script = await filled(checkout, checkout.here(block.text));
      const folder = block.tag.startsWith("in ") ? join("pages", block.tag.slice(3)) : ".";
      const { exit, out, err } = await checkout.run("bash", ["-euo", "pipefail", "-c", script], folder);
      expect(exit, `${script}\n${out}\n${err}`).to.equal(0);
      expect(out, script).not.to.include('{"error":{"op"');
    });
  }
});

/** Puts real runs where the page says RUN, CALL and SESSION: ended, under way or waiting, as the line needs. */
async function filled(checkout: Checkout, script: string): Promise<string> {
  const lines = [];
  for (const line of script.split("\n")) {
    if (/\bCALL\b/.test(line)) {
      const { run, call } = await waiting(checkout);
      lines.push(line.replaceAll(/\bRUN\b/g, run).replaceAll(/\bCALL\b/g, call));
    } else if (/\/(cancel|messages)\b/.test(line) && /\bRUN\b/.test(line)) {
      lines.push(line.replaceAll(/\bRUN\b/g, await started(checkout, "slow")));
    } else if (/\b(RUN|SESSION)\b/.test(line)) {
      lines.push(line.replaceAll(/\bRUN\b/g, await ended(checkout)).replaceAll(/\bSESSION\b/g, "documented"));
    } else lines.push(line);
  }
  return lines.join("\n");
}

async function started(checkout: Checkout, agent: string): Promise<string> {
  const response = await checkout.post("/v1/runs", { agent, input: "What time is it?" }, { prefer: "respond-async" });
  return response.headers.get("x-venturi-run") ?? "";
}

let known: string | undefined;
async function ended(checkout: Checkout): Promise<string> {
  if (known !== undefined) return known;
  const response = await checkout.post("/v1/runs", {
    agent: "assistant",
    session: "documented",
    input: "What is 17 * 23?",
  });
  known = response.headers.get("x-venturi-run") ?? "";
  await response.text();
  return known;
}

async function waiting(checkout: Checkout): Promise<{ run: string; call: string }> {
  const run = await started(checkout, "careful");
  const response = await fetch(`${checkout.url}/v1/runs/${run}/events`);
  let text = "";
  for await (const piece of response.body ?? []) {
    text += Buffer.from(piece).toString();
    const call = /"type":"approval\.requested".*?"call":"([^"]+)"/.exec(text)?.[1];
    if (call !== undefined) return { run, call };
  }
  throw new Error(`no approval was asked for: ${text}`);
}
