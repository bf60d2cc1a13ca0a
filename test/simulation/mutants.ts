import { registerHooks } from "node:module";
import { conversationMutants } from "./conversation-mutants.ts";
import { serviceMutants } from "./service-mutants.ts";

export interface Mutant {
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** In which the fault is; the model of all journals when absent. */
  readonly store?: "sqlite";
}

/** Faults planted into the product on purpose, by name. Each has to be found. */
export const mutants: Readonly<Record<string, Mutant>> = {
  ...serviceMutants,
  ...conversationMutants,
  "an append is not fenced by its epoch": {
    file: "plugins/memory/run.js",
    from: 'stored.state === "running" && stored.epoch === ownership.epoch && stored.events.length === head',
    to: "stored.events.length === head",
  },
  "a claim starts no epoch": {
    file: "plugins/memory/run.js",
    from: "stored.epoch += 1;",
    to: "stored.epoch ||= 1;",
  },
  "a repeated append is fenced": {
    file: "plugins/memory/journal.js",
    from: "else if (!stored || !isThere(stored, item)) {",
    to: "else {",
  },
  "idempotency keys are ignored": {
    file: "plugins/memory/journal.js",
    from: "item.key === undefined ? undefined : this.#table.byKey(item.tenant, item.key, this.#clock.now())",
    to: "undefined",
  },
  "a removed run frees its key": {
    file: "plugins/memory/run-table.js",
    from: "this.#removed.set(name, { run: stored.run, at: now });",
    to: "",
  },
  "SQLite forgets the key of a removed run": {
    file: "plugins/sqlite/pruning.js",
    from: "if (key !== null)",
    to: "if (false)",
    store: "sqlite",
  },
  "a lease never expires": {
    file: "plugins/memory/claims.js",
    from: "Math.abs(this.#clock.now() - time) > this.#lease",
    to: "false",
  },
  "runs of a session are claimed together": {
    file: "plugins/memory/claims.js",
    from: "const first = session === undefined || !sessions.has(session);",
    to: "const first = true;",
  },
  "a busy session's run is claimed as it is stored": {
    file: "plugins/memory/journal.js",
    from: "item.claimFor !== undefined && !busy",
    to: "item.claimFor !== undefined",
  },
  "a repeated signal counts twice": {
    file: "plugins/memory/journal.js",
    from: "stored.signals.some((signal) => signal.id === id)",
    to: "false",
  },
  "a signal does not wake a parked run": {
    file: "plugins/memory/journal.js",
    from: 'if (stored.state === "waiting")\n            stored.state = "ready";',
    to: "",
  },
  "a park does not look for newer signals": {
    file: "plugins/memory/run.js",
    from: "stored.signals.length > (item.seenSignals ?? 0)",
    to: "false",
  },
  "a parked run is not woken in time": {
    file: "plugins/memory/claims.js",
    from: "stored.wakeAt !== undefined && stored.wakeAt <= this.#clock.now()",
    to: "false",
  },
  "readers get events before they are stored": {
    file: "src/journal/committer.js",
    from: "const answer = this.#journal.append(batch);",
    to: "for (const [at, log] of open.entries())\n                for (const reader of log.readers)\n                    reader.hand(batch[at].events);\n            const answer = this.#journal.append(batch);",
  },
  "a fenced owner goes on": {
    file: "src/journal/committer.js",
    from: "if (fenced.has(log.ownership)) {\n                log.fail",
    to: "if (false) {\n                log.fail",
  },
  "a failed append counts as done": {
    file: "src/journal/committer.js",
    from: "this.#failed.retry(this.#logs, this.#batch, thrown).then(this.#next);",
    to: "this.#report(this.#logs, this.#batch, new Set());\n        this.#next();",
  },
  "a step does not wait until it is durable": {
    file: "src/journal/run-log.js",
    from: "return new Promise((resolve, reject) => {\n            this.#waiters.push({ seq:",
    to: "this.#owner.changed(this, true);\n        return Promise.resolve();\n        return new Promise((resolve, reject) => {\n            this.#waiters.push({ seq:",
  },
  "a takeover does not read the history": {
    file: "src/journal/worker.js",
    from: "readHistory(this.#journal, claim.ownership)",
    to: "Promise.resolve([])",
  },
  "stray leases are kept": {
    file: "src/journal/worker.js",
    from: "await this.#strayLeases.reconcile();",
    to: ";",
  },
  "nobody polls for runs": {
    file: "src/journal/worker.js",
    from: 'this.#every("claim", this.#poll, () => this.#claim());',
    to: "",
  },
  "a reader resumes one event late": {
    file: "src/journal/follower.js",
    from: "this.#next = options.after + 1;",
    to: "this.#next = options.after + (options.after > 3 ? 2 : 1);",
  },
  "a reader resumes one event early": {
    file: "src/journal/follower.js",
    from: "this.#next = options.after + 1;",
    to: "this.#next = Math.max(1, options.after);",
  },
  "a reader gets events again": {
    file: "src/journal/follower.js",
    from: "first === this.#next ? events : events.slice(this.#next - first)",
    to: "events",
  },
  "an effectful tool starts early": {
    file: "src/agent/tools/call-rules.js",
    from: 'if (tool.effect !== "pure" && tool.effect !== "idempotent")\n            return false;\n        if (typeof tool',
    to: "if (typeof tool",
  },
  "no question before a repetition": {
    file: "src/agent/tools/call-rules.js",
    from: "return call.attempts > 0 && tool.effect",
    to: "return false && tool.effect",
  },
  "a denied call runs": {
    file: "src/agent/tools/dispatch.js",
    from: "if (!approved)",
    to: "if (approved === undefined)",
  },
  "a tool runs before its start is stored": {
    file: "src/agent/tools/dispatch.js",
    from: 'await run.step({\n                type: "tool.started"',
    to: 'run.emit({\n                type: "tool.started"',
  },
  "an approval covers the next start too": {
    file: "src/agent/state/run-state.js",
    from: "call.approval = undefined;",
    to: "",
  },
  "edited arguments are dropped": {
    file: "src/agent/state/run-state.js",
    from: "call.changed = event.arguments;",
    to: "",
  },
  "an early answer is lost when the run parks": {
    file: "src/agent/tools/approvals.js",
    from: "for (const call of this.#held.keys())\n            if (this.#isOpen(call))\n                return true;\n        return false;",
    to: "return false;",
  },
  "a placeholder seals a call": {
    file: "src/provider/accumulate.js",
    from: 'if (!this.#scanner.empty)\n            return "arguments";',
    to: 'return "arguments";',
  },
  "a call is sealed when its arguments begin": {
    file: "src/provider/accumulate.js",
    from: 'if (!this.#scanner.closed || this.name === "")\n            return undefined;',
    to: 'if (this.name === "")\n            return undefined;',
  },
  "a fork makes the original's calls again": {
    file: "src/host/runs/forked-agent.js",
    from: "const known = results.get(key) ?? [];",
    to: "const known = [];",
  },
  "a fork does not ask about new calls": {
    file: "src/host/runs/forked-agent.js",
    from: "uncertain.has(key) && !results.has(key) ? mayHaveRun : true",
    to: "false",
  },
  "a fork does not say that a call may have run": {
    file: "src/host/runs/forked-agent.js",
    from: "uncertain.has(key) && !results.has(key) ? mayHaveRun : true",
    to: "true",
  },
  "a fork takes over the original's later signals": {
    file: "src/host/runs/fork.js",
    from: ".filter(({ number }) => seen.has(number))",
    to: "",
  },
  "a parked run leaves its session": {
    file: "plugins/memory/claims.js",
    from: "if (session !== undefined)\n                sessions.add(session);",
    to: 'if (session !== undefined && stored.state !== "waiting")\n                sessions.add(session);',
  },
  "the feed tells of a listed run again when it begins here": {
    file: "src/host/runs/feed-elsewhere.js",
    from: 'return event.type === "run.started" ? !started :',
    to: 'return event.type === "run.started" ? true :',
  },
  "the feed follows a run from its takeover only": {
    file: "src/host/runs/feed-elsewhere.js",
    from: "return Math.min(head, this.#known.get(run)?.head ?? (this.#isReady ? 0 : head));",
    to: "return head;",
  },
  "the feed looks once": {
    file: "src/host/runs/feed-elsewhere.js",
    from: "this.#looking = false;\n        }\n    }",
    to: "}\n    }",
  },
  "a watch of the feed knows what the last one read": {
    file: "src/host/runs/feed.js",
    from: "this.#elsewhere.end();\n        this.#elsewhere = this.#watchElsewhere();",
    to: "",
  },
  "an ended run keeps its memory": {
    file: "src/host/runs/executor.js",
    from: "held?.release();\n        this.#held.delete(run);",
    to: "",
  },
  "a resumed run starts from nothing": {
    file: "src/agent/run/run-context.js",
    from: "RunState.of(deps.history)",
    to: "new RunState()",
  },
  "SQLite does not wait for the disk": {
    file: "plugins/sqlite/serve.js",
    from: "PRAGMA synchronous = FULL",
    to: "PRAGMA synchronous = OFF",
    store: "sqlite",
  },
  "SQLite waits for the disk at checkpoints only": {
    file: "plugins/sqlite/serve.js",
    from: "PRAGMA synchronous = FULL",
    to: "PRAGMA synchronous = NORMAL",
    store: "sqlite",
  },
  "SQLite takes a failed commit for done": {
    file: "plugins/sqlite/store.js",
    from: 'this.#ask.run("COMMIT");',
    to: 'try { this.#ask.run("COMMIT"); } catch { if (this.#database.isTransaction) this.#ask.run("ROLLBACK"); }',
    store: "sqlite",
  },
  "SQLite takes an append of an older epoch": {
    file: "plugins/sqlite/sql.js",
    from: "WHERE id = ? AND epoch = ? AND head = ? AND state = 'running'",
    to: "WHERE id = ? AND ? > 0 AND head = ? AND state = 'running'",
    store: "sqlite",
  },
  "a budget is asked and not heeded": {
    file: "plugins/memory/accounts.js",
    from: "if (over.length > 0)",
    to: "if (false)",
  },
  "what a generation set aside is kept after its end": {
    file: "plugins/memory/accounts.js",
    from: "if (release)",
    to: "if (false)",
  },
  "a run's reservations add up": {
    file: "plugins/memory/accounts.js",
    from: "this.#accounts.get(account)?.holds.set(run, { nanos, tokens })",
    to: "this.#accounts.get(account)?.holds.set(`${run} ${this.#accounts.get(account).holds.size}`, { nanos, tokens })",
  },
  "a repeated append is billed again": {
    file: "plugins/memory/journal.js",
    from: "if (stored && mayWrite(stored, item))",
    to: "if (stored && item.billed && !mayWrite(stored, item)) this.#accounts.bill(stored.run, item.billed);\nif (stored && mayWrite(stored, item))",
  },
  "a failed generation is not billed": {
    file: "src/core/journal/money.js",
    from: 'case "generation.failed": {',
    to: "{",
  },
};

/** Changes the product's compiled code while it is loaded. Fails where the code to change is gone. */
export function plant(name: string): void {
  const mutant = mutants[name];
  if (mutant === undefined)
    throw new Error(`there is no mutant "${name}"; there are: ${Object.keys(mutants).join(", ")}`);
  const { file, from, to } = mutant;
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      if (!url.endsWith(`/dist/${file}`)) return loaded;
      const source = String(loaded.source);
      if (source.split(from).length !== 2) throw new Error(`${name}: ${file} does not have this once: ${from}`);
      return { ...loaded, source: source.replace(from, () => to) };
    },
  });
}
