import type { Mutant } from "./mutants.ts";

/** Planted into what models are asked and told, what is remembered, and what tenants share. */
export const conversationMutants: Readonly<Record<string, Mutant>> = {
  "a fragment goes to the call that was written last": {
    file: "plugins/openai/tool-calls.js",
    from: "const call = this.#byKey.get(fragment.key);",
    to: "const call = fragment.name === undefined ? this.#last : this.#byKey.get(fragment.key);",
  },
  "Anthropic's stream may end anywhere": {
    file: "plugins/anthropic/decoder.js",
    from: 'this.#fail("the stream ended before message_stop; what arrived is incomplete", out);',
    to: 'out.push({ type: "done", finish: "stop" });',
  },
  "a line that two reads have is taken without its beginning": {
    file: "src/provider/frames/held-bytes.js",
    from: 'const text = this.#room.toString("utf8", 0, this.length);',
    to: 'const text = this.#room.toString("utf8", this.length - bytes.length, this.length);',
  },
  "Gemini is not told what its last call gave": {
    file: "plugins/gemini/contents.js",
    from: 'if (part.type === "tool_result")',
    to: 'if (part.type === "tool_result" && part !== message.parts.at(-1))',
  },
  "a summary is used before it is stored": {
    file: "src/agent/model/conversation.js",
    from: 'await run.step({ type: "context.compacted", dropped, range, ...made });',
    to: 'run.emit({ type: "context.compacted", dropped, range, ...made });',
  },
  "a conversation is cut between a call and its result": {
    file: "src/agent/model/compact.js",
    from: 'message.role === "user" && messages[index - 1]?.role !== "user" ? [index] : []',
    to: "[index]",
  },
  "an erased run stays in the conversations of other processes": {
    file: "src/host/runs/sessions.js",
    from: "const isCurrent = cached !== undefined && [...cached.runs].every((run) => listed.has(run));",
    to: "const isCurrent = cached !== undefined;",
  },
  "another model is sent what the first one has thought": {
    file: "src/agent/model/vendor-proofs.js",
    from: "message.provider === undefined || message.provider === provider",
    to: "true",
  },
  "two thoughts become one": {
    file: "src/agent/state/round-state.js",
    from: "event.part === undefined || event.part === this.#reasoning",
    to: "true",
  },
  "a thought that a guard has changed keeps its proof": {
    file: "src/agent/model/filtered-deltas.js",
    from: "const isSame = isProven && this.#told === this.#thought;",
    to: "const isSame = isProven;",
  },
  "a refusal is taken for an answer": {
    file: "src/agent/after-round.js",
    from: "if (schema === undefined)\n        return { finish };",
    to: 'if (schema === undefined)\n        return { finish: "stop" };',
  },
  "a resumed run forgets the tools it has found": {
    file: "src/agent/state/run-state.js",
    from: "for (const event of events)\n            state.apply(event);",
    to: "for (const event of events)\n            state.apply(event);\n        state.foundTools.clear();",
  },
  "a skill that was changed is read as if it had not been": {
    file: "src/agent/tools/read-skill.js",
    from: "shown.hash === skill.hash ?",
    to: "true ?",
  },
  "a run is told of the skills of another configuration": {
    file: "src/agent/model/request.js",
    from: "withSkills(own, state.skills)",
    to: "withSkills(own, agent.skills)",
  },
  "a summary is asked for without the tenant": {
    file: "src/agent/model/generation-context.js",
    from: "...(tenant === undefined ? {} : { tenant }),",
    to: "",
  },
  "the other model of a hedge speaks in the first one's name": {
    file: "src/agent/model/generation.js",
    from: "begin(run, { ...attempt, skipped: [], reason });",
    to: "",
  },
  "the model that lost a race is not billed": {
    file: "src/core/journal/money.js",
    from: "if (hedged?.usage !== undefined)",
    to: "if (false)",
  },
  "a repeated call changes its document again": {
    file: "src/core/ports/documents.js",
    from: "if (before !== undefined && known !== undefined)",
    to: "if (false)",
  },
  "a document is written over": {
    file: "plugins/memory/key-values.js",
    from: "if ((entries.get(key)?.version ?? 0) !== version)",
    to: 'if (space !== "memory" && (entries.get(key)?.version ?? 0) !== version)',
  },
  "a repeated call notes again": {
    file: "plugins/memorize/index.js",
    from: "noteOfCall(context.idempotencyKey)",
    to: "noteOfCall(`${context.idempotencyKey} ${clock.now()}`)",
  },
  "tenants share their sessions of one name": {
    file: "src/host/runs/sessions.js",
    from: "JSON.stringify([turn.tenant, turn.session])",
    to: "JSON.stringify([turn.session])",
  },
  "a tenant is refused its share of the memory": {
    file: "src/host/memory/held-memory.js",
    from: "if (own + bytes <= share)",
    to: "if (false)",
  },
  "the youngest run is claimed first": {
    file: "plugins/memory/claims.js",
    from: "for (const stored of this.#table.open.values()) {\n            if (claims.length >= limit)",
    to: "for (const stored of [...this.#table.open.values()].reverse()) {\n            if (claims.length >= limit)",
  },
  "a tenant's schedules are started before anyone else's": {
    file: "plugins/channel-time/scheduler.js",
    from: "before.set(tenant, turn + 1);",
    to: "",
  },
};
