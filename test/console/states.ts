import type { Page } from "playwright-core";
import type { ConsoleService } from "./service.ts";

/** Runs of every kind that a page may show. */
export interface Runs {
  readonly done: string;
  readonly retracted: string;
  readonly broken: string;
  readonly waiting: string;
  readonly manager: string;
  readonly stopped: string;
  readonly fork: string;
  readonly structured: string;
}

export async function makeRuns(service: Pick<ConsoleService, "json">): Promise<Runs> {
  const settle = async (run: string): Promise<string> => {
    for (let turn = 0; turn < 400; turn += 1) {
      const { status } = await service.json<{ status: string }>(`/v1/runs/${run}`);
      if (status !== "running" && status !== "ready") return run;
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
    throw new Error(`${run} does not end`);
  };
  const make = async (agent: string, input: string, more = {}) =>
    settle((await service.json<{ run: string }>("/v1/runs", { agent, input, ...more })).run);
  const order = "Where is order A-17?";
  const done = await make("support", order, { session: "ada", metadata: { customer: "Ada L." } });
  const retracted = await make("careful", order, { session: "ada" });
  const broken = await make("broken", "hello", { session: "ada" });
  const counting = await service.json<{ run: string }>("/v1/runs", { agent: "counter", input: "count" });
  await service.json(`/v1/runs/${counting.run}/cancel`, { reason: "not needed any more" });
  const fork = await service.json<{ run: string }>(`/v1/runs/${done}/fork`, {
    after: 1,
    instructions: "Answer like a pirate.",
  });
  const structured = await make("filer", "File order A-17", { session: "bob" });
  const manager = await make("manager", order);
  const waiting = await make("support", "I want a refund for order A-17", { session: "ada" });
  await service.json(`/v1/runs/${done}/feedback`, { label: "good" });
  return {
    done,
    retracted,
    broken,
    waiting,
    manager,
    stopped: await settle(counting.run),
    fork: await settle(fork.run),
    structured,
  };
}

export interface State {
  readonly name: string;
  readonly path: string;
  /** Seen once the page stands. */
  readonly ready: string;
  readonly act?: (page: Page) => Promise<unknown>;
}

/** Every page in every state that it can be in. */
export function pagesOf(runs: Runs): readonly State[] {
  const { done, retracted, broken, waiting, manager, stopped, fork, structured } = runs;
  const run = (id: string, rest = "") => `/console/runs/${id}${rest}`;
  return [
    { name: "chat-empty", path: "/console/", ready: "#composer" },
    { name: "chat-inputs", path: "/console/chat/concierge", ready: ".inputs" },
    {
      name: "chat-input-missing",
      path: "/console/chat/concierge",
      ready: ".inputs",
      act: async (page) => {
        await page.fill("#composer", "hello");
        await page.keyboard.press("Enter");
        await page.waitForSelector(".inputs .problem");
      },
    },
    { name: "chat-approval", path: "/console/chat/support/ada", ready: ".approval" },
    { name: "chat-no-agent", path: "/console/chat/nobody", ready: ".empty" },
    { name: "runs", path: "/console/runs", ready: ".totals dd" },
    { name: "runs-grouped", path: "/console/runs?by=agent", ready: ".groups tbody tr" },
    { name: "runs-none", path: "/console/runs?q=nothing+like+this&status=failed", ready: ".empty" },
    {
      name: "runs-filtered",
      path: "/console/runs?sort=costliest&tool=find_order&key=anyone",
      ready: ".chip",
    },
    {
      name: "runs-completing",
      path: "/console/runs",
      ready: ".row",
      act: async (page) => {
        await page.locator("#search").pressSequentially("sta");
        await page.waitForSelector("#completions :text('status:')");
      },
    },
    { name: "run", path: run(done), ready: ".why" },
    { name: "run-retracted", path: run(retracted), ready: ".retracted" },
    { name: "run-failed", path: run(broken), ready: ".ending.failed" },
    { name: "run-stopped", path: run(stopped), ready: ".ending.cancelled" },
    { name: "run-waiting", path: run(waiting), ready: "[data-act=approve]" },
    { name: "run-structured", path: run(structured), ready: ".structured" },
    { name: "run-missing", path: run("run_nowhere"), ready: ".empty" },
    { name: "run-past", path: run(done, "?at=20"), ready: ".scrubber.past" },
    { name: "trace", path: run(done, "?view=trace&select=run"), ready: ".wf-row" },
    { name: "trace-retracted", path: run(retracted, "?view=trace"), ready: ".wf-row" },
    { name: "trace-nested", path: run(manager, "?view=trace"), ready: ".wf-row.depth-5" },
    { name: "spans", path: run(done, "?view=trace&spans=1"), ready: ".spans .wf-row" },
    { name: "events", path: run(done, "?view=events&select=event+5"), ready: ".event-row" },
    { name: "request", path: run(done, "?view=request"), ready: ".request pre" },
    { name: "wire", path: run(done, "?view=wire"), ready: ".chunks td" },
    {
      name: "wire-hex",
      path: run(done, "?view=wire"),
      ready: ".chunks td",
      act: async (page) => {
        await page.click("button:has-text('Hex')");
        await page.waitForSelector(".chunks .hex");
      },
    },
    {
      name: "fork-dialog",
      path: run(done),
      ready: ".why",
      act: async (page) => {
        await page.click("button:has-text('Fork')");
        await page.waitForSelector("dialog option", { state: "attached" });
      },
    },
    { name: "compare-choose", path: `/console/compare?a=${done}`, ready: ".plain-list li" },
    { name: "compare", path: `/console/compare?a=${done}&b=${fork}`, ready: ".diffed ins" },
    { name: "approvals", path: "/console/approvals", ready: ".question-card" },
    {
      name: "approvals-edit",
      path: "/console/approvals",
      ready: "[data-act=edit]:not([disabled])",
      act: (page) => page.click("[data-act=edit]"),
    },
    { name: "sessions", path: "/console/sessions", ready: ".row" },
    { name: "session", path: "/console/sessions?session=ada", ready: ".turn .said" },
    { name: "session-runs", path: "/console/sessions?session=ada&as=runs", ready: ".turn-row" },
    { name: "schedules", path: "/console/schedules", ready: ".empty, .panel" },
    { name: "webhooks", path: "/console/webhooks", ready: ".empty, .panel" },
    { name: "spend", path: "/console/spend", ready: "table.spend" },
    { name: "service", path: "/console/service", ready: ".service" },
    { name: "nowhere", path: "/console/nowhere", ready: "main h1" },
    {
      name: "palette",
      path: "/console/runs",
      ready: ".row",
      act: (page) => page.keyboard.press("Control+k"),
    },
    { name: "keys", path: "/console/runs", ready: ".row", act: (page) => page.keyboard.press("?") },
  ];
}
