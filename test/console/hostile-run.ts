import type { EventBody } from "../../src/core/run/events.ts";

/** A run as `venturi export` writes it, with a string of the list in every field that a model, a tool or a caller fills. */
export function hostileRun(run: string, strings: readonly string[]): string {
  const usage = { inputTokens: 1, outputTokens: 1 };
  const timing = {
    providerWait: 1,
    providerStream: 1,
    retryWait: 0,
    tool: 1,
    approval: 0,
    client: 0,
    stalled: 0,
    runtime: 0,
  };
  const events: EventBody[] = [];
  const first = strings[0] ?? "";
  const session = `${first.slice(0, 100)}${run.slice(-2)}`;
  const metadata = Object.fromEntries(
    strings.map((each, at) => [`${each.slice(0, 40)} ${at}`, { value: each, list: [each] }]),
  );
  const asked = { agent: "support", input: { text: strings.slice(0, 5).join("\n") }, session, metadata };
  events.push({ type: "run.started", ...asked, config: first.slice(0, 16), trace: first.slice(0, 40) });
  for (const [at, each] of strings.entries()) {
    const call = `call_${at}`;
    const round = at + 1;
    const error = {
      op: each.slice(0, 60) || "op",
      code: "tool_failed" as const,
      err: each,
      details: { [each.slice(0, 30)]: each },
    };
    events.push(
      {
        type: "round.started",
        round,
        model: each.slice(0, 80),
        provider: each.slice(0, 80),
        attempt: 1,
        warnings: [each],
      },
      { type: "reasoning.delta", round, text: each },
      { type: "text.delta", round, text: each },
      { type: "refusal.delta", round, text: each },
      { type: "provider.activity", round, kind: "citation", wire: "openai", data: { [each.slice(0, 30)]: each } },
      { type: "tool_call.started", round, call, name: each.slice(0, 64) || "tool", index: 0 },
      { type: "tool_call.delta", round, call, arguments: each },
      {
        type: "tool_call.ready",
        round,
        call,
        name: each.slice(0, 64) || "tool",
        arguments: { [each.slice(0, 30) || "a"]: each },
      },
      {
        type: "approval.requested",
        round,
        call,
        name: each.slice(0, 64) || "tool",
        arguments: { a: each },
        reason: each,
      },
      { type: "approval.resolved", round, call, approved: true, reason: each, by: each.slice(0, 40) },
      {
        type: "generation.finished",
        round,
        attempt: 1,
        finish: each.slice(0, 40),
        usage,
        responseModel: each.slice(0, 40),
      },
      {
        type: "tool.started",
        round,
        call,
        name: each.slice(0, 64) || "tool",
        attempt: 1,
        idempotencyKey: each.slice(0, 64),
      },
      { type: "tool.output", round, call, text: each },
      at % 3 === 0
        ? { type: "tool.finished", round, call, name: each.slice(0, 64) || "tool", ok: false, error, ms: 1 }
        : {
            type: "tool.finished",
            round,
            call,
            name: each.slice(0, 64) || "tool",
            ok: true,
            output: each,
            ms: 1,
            images: [
              { mediaType: "image/svg+xml", data: btoa("<svg onload=pwned=1 xmlns='http://www.w3.org/2000/svg'/>") },
            ],
            files: [{ mediaType: "text/html", name: each.slice(0, 60), data: btoa("<script>pwned=1</script>") }],
          },
      {
        type: "message.added",
        by: each.slice(0, 40),
        message: { role: "user", parts: [{ type: "text", text: each }] },
      },
      { type: "agent.changed", round, call, agent: each.slice(0, 64) || "agent" },
      { type: "round.retracted", round, attempt: 1, reason: each },
      { type: "generation.failed", round, attempt: 1, model: each.slice(0, 80), error },
      { type: "context.compacted", dropped: 1, summary: each },
      {
        type: "memory.recalled",
        store: each.slice(0, 64),
        query: each,
        notes: [{ id: each.slice(0, 64), scope: "user", owner: each, text: each, at: 0, score: 0.01 }],
      },
      { type: "round.finished", round, finish: each.slice(0, 40), usage },
    );
  }
  const err = strings.join(" ");
  events.push({
    type: "run.failed",
    error: { op: first.slice(0, 60), code: "stream_error", err, details: { first } },
    output: err,
    usage,
    rounds: strings.length,
    timing,
  });
  const head = {
    venturi: "run",
    version: 1,
    run,
    tenant: "default",
    session,
    createdAt: 1_794_000_000_000,
    request: { ...asked, onDisconnect: "continue", caller: { id: first.slice(0, 20) } },
  };
  const lines = events.map((event, at) => ({ event: { ...event, run, seq: at + 1, at: 1_794_000_000_000 + at } }));
  return `${[head, ...lines].map((line) => JSON.stringify(line)).join("\n")}\n`;
}
