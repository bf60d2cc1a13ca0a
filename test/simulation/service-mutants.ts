import type { Mutant } from "./mutants.ts";

/** Planted into what surrounds a run: schedules, webhooks, reloads, pauses, guards, and what is told of it. */
export const serviceMutants: Readonly<Record<string, Mutant>> = {
  "a time of a schedule is started without its key": {
    file: "plugins/channel-time/schedule-watch.js",
    from: "key: keyOf(name, time),",
    to: "",
  },
  "a start that failed is not tried again": {
    file: "plugins/channel-time/schedule-watch.js",
    from: 'if (codes[code].retryable || (code === "conflict" && definition.overlap !== "skip"))',
    to: "if (false)",
  },
  "a schedule forgets a start that it could not store": {
    file: "plugins/channel-time/schedule-watch.js",
    from: "this.#unstored = [start, ...this.#unstored];",
    to: "",
  },
  "a schedule begins anew in each process": {
    file: "plugins/channel-time/schedule-state.js",
    from: "state ?? { since: now, through: now, starts: [] }",
    to: "({ since: now, through: now, starts: [] })",
  },
  "a schedule begins when the clock that is ahead has it": {
    file: "plugins/channel-time/schedule-state.js",
    from: "state === undefined || news.since <= state.since ? news : state;",
    to: "news;",
  },
  "a delivery that failed counts as done": {
    file: "plugins/channel-time/courier.js",
    from: 'if (delivered.kind === "ok")',
    to: "if (true)",
  },
  "a webhook's lease is never taken over": {
    file: "plugins/channel-time/lease.js",
    from: "now - this.#seen.at < gone",
    to: "true",
  },
  "a webhook is told of the end before the rest": {
    file: "plugins/channel-time/next-messages.js",
    from: "const onlyEnd = options.events.every((event) => atTheEnd.has(event));",
    to: 'const onlyEnd = row.state === "done";',
  },
  "a run does not hold its revision": {
    file: "src/host/runs/executor.js",
    from: "const lease = revisions.acquire();",
    to: "const lease = { revision: revisions.current, release() { } };",
  },
  "runs of unknown agents are claimed": {
    file: "src/host/runs/executor.js",
    from: "const names = { agents: agents.map(({ name }) => name) };",
    to: "const names = {};",
  },
  "a paused run goes on": {
    file: "src/agent/state/run-state.js",
    from: 'this.paused = event.type === "run.paused";',
    to: ";",
  },
  "the next request does not wait for its round to be stored": {
    file: "src/agent/loop.js",
    from: 'await this.#run.step({ type: "round.finished"',
    to: 'this.#run.emit({ type: "round.finished"',
  },
  "a paused run does not hear of its resumption": {
    file: "src/agent/loop.js",
    from: 'paused: kind === "pause"',
    to: "paused: true",
  },
  "a guard forgets what was said before a call": {
    file: "src/agent/run/guard-filter.js",
    from: "this.#tail += all;",
    to: ";",
  },
  "a guard lets blocked arguments pass": {
    file: "src/agent/run/guard-hooks.js",
    from: 'if (action === "block") {\n        const { op, code, message } = blocked(active.name, "arguments", found);',
    to: 'if (false) {\n        const { op, code, message } = blocked(active.name, "arguments", found);',
  },
  "a guard asks nobody about arguments": {
    file: "src/agent/run/guard-hooks.js",
    from: "return found.size === 0 ? undefined : `the guard ${active.name} found ${toldFindings(found)}`;",
    to: "return undefined;",
  },
  "a reader that leaves waits for a read that brings nothing": {
    file: "src/journal/follower.js",
    from: "this.#reading = false; // Nobody",
    to: "// Nobody",
  },
  "a run's time goes back with the clock of its next process": {
    file: "src/journal/worker.js",
    from: "log.follow(last.at);",
    to: ";",
  },
  "time without an owner is lost": {
    file: "src/core/run/run-times.js",
    from: 'case "run.resumed":',
    to: 'case "run.resumed":\n                this.at += 1_000;',
  },
  "why takes every end for a cancel": {
    file: "src/serve/why/judge.js",
    from: 'if (end?.type === "run.failed")\n        return causeOfError(story, end.error);',
    to: 'if (end?.type === "run.failed")\n        return "cancelled";',
  },
  "the feed takes a queued run for one that has begun": {
    file: "src/host/runs/feed-elsewhere.js",
    from: "known.started = row.head > 0;",
    to: "known.started = true;",
  },
  "a hook is blamed for the time it waits for the journal": {
    file: "src/host/build/plugin-ports.js",
    from: "currentScope()?.waitForJournal?.()",
    to: "undefined",
  },
  "a question that was answered is asked again": {
    file: "src/agent/tools/approvals.js",
    from: "if (!state.questions.has(asked.call))",
    to: "if (true)",
  },
};
