import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect } from "chai";
import { silentLog } from "../../src/core/ports/log.ts";
import { type EventOf, isTerminal, type RunEvent } from "../../src/core/run/events.ts";
import { type Host, openHost } from "../../src/host/open.ts";
import { startServer } from "./http/server.ts";

const everything = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"));

const config = (port: number) => `
providers:
  demo:
    type: simulator
    pace: 0
    scenarios: [scenarios.yaml]
tools:
  clock: { type: clock }
  calculator: { type: calculator }
  files: { type: files, root: work, write: true }
  shell: { type: shell, cwd: work, sandbox: approve, commands: [cat, { name: wait, argv: [sh, wait.sh] }], env: { TOKEN: hidden-token } }
  web:
    type: http
    allowPrivate: ["127.0.0.1:${port}"]
    headers: { authorization: Bearer hidden-key }
    operations: { echo: { description: Echoes, url: "http://127.0.0.1:${port}/echo-secret" } }
  remote: { type: mcp, command: "${process.execPath}", args: ["${everything}", stdio], tools: [echo, get-tiny-image, get-env], env: { KEY: hidden-env } }
  mine: { type: module, path: ./tool.mjs }
  helper: { type: agent, agent: helper, maxDepth: 1 }
agents:
  assistant: { model: demo/all, tools: [clock, calculator, files, shell, web, remote, mine, helper] }
  waiting: { model: demo/wait, tools: [shell] }
  helper: { model: demo/nested, tools: [helper] }
journal: { type: memory }
telemetry: { logs: { level: silent } }
`;

const scenarios = `
scenarios:
  - name: all
    advance: request
    turns:
      - calls:
          - { name: clock, arguments: { at: "2026-03-01", add: { days: 1 } } }
          - { name: calculator, arguments: { expression: "6 * 7" } }
          - { name: files_write, arguments: { path: note.txt, content: written } }
          - { name: web_echo, arguments: {} }
          - { name: remote_echo, arguments: { message: over stdio } }
          - { name: remote_get-tiny-image, arguments: {} }
          - { name: remote_get-env, arguments: {} }
          - { name: mine, arguments: { name: you } }
          - { name: helper, arguments: { task: go deeper } }
      - calls:
          - { name: files_read, arguments: { path: note.txt } }
          - { name: files_read, arguments: { path: ../venturi.yaml } }
          - { name: shell, arguments: { command: cat, arguments: [note.txt] } }
          - { name: shell, arguments: { command: cat, arguments: [/etc/passwd] } }
          - { name: shell, arguments: { command: bash } }
      - text: "all done"
  - name: nested
    turns:
      - calls: [{ name: helper, arguments: { task: deeper still } }]
      - text: "as deep as it goes"
  - name: wait
    turns:
      - calls: [{ name: shell, arguments: { command: wait } }]
      - text: "never said"
`;

describe("the tools in the box, through the whole loop", () => {
  const folder = mkdtempSync(join(tmpdir(), "venturi-tools-"));
  let server: Awaited<ReturnType<typeof startServer>>;
  let host: Host;
  before(async () => {
    server = await startServer();
    const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
    mkdirSync(join(folder, "work"));
    write("work/wait.sh", "echo $$; sleep 60; true");
    write("scenarios.yaml", scenarios);
    write(
      "tool.mjs",
      `export default { description: "Greets by name", parameters: { type: "object", properties: { name: { type: "string" } } },
         effect: "pure", async *call({ name }) { yield "thinking"; return "hello " + name; } };`,
    );
    const configFile = join(folder, "venturi.yaml");
    writeFileSync(configFile, config(server.port));
    host = await openHost({ configFile, log: silentLog });
  });
  after(async () => {
    await host.close();
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  /** A person who approves what runs without a sandbox, but for /etc. */
  const answer = async (run: string, event: RunEvent) => {
    if (event.type !== "approval.requested") return;
    const approved = !JSON.stringify(event.arguments).includes("/etc/");
    await host.runs.signal(run, "approve", { call: event.call, approved });
  };

  const eventsOf = async (run: string): Promise<RunEvent[]> => {
    const events: RunEvent[] = [];
    for await (const batch of host.runs.follow(run)) {
      events.push(...batch);
      for (const event of batch) await answer(run, event);
    }
    return events;
  };

  it("each is called by a model and answers, refusals are reported, and no secret is in any event", async () => {
    const { run } = await host.runs.start({ agent: "assistant", input: { text: "use everything" } });
    const events = await eventsOf(run);
    expect(events.at(-1)).to.include({ type: "run.finished", output: "all done" });
    const finished = events.filter((event): event is EventOf<"tool.finished"> => event.type === "tool.finished");
    const told = finished.map((event) => `${event.name} ${event.ok ? event.output : event.error?.code}`);
    const one = (pattern: RegExp) =>
      expect(
        told.filter((line) => pattern.test(line)),
        `${pattern} in\n${told.join("\n")}`,
      ).to.have.length(1);
    one(/^clock .*2026-03-02T00:00:00Z/);
    one(/^calculator .*42/);
    one(/^files_write .*"bytes":7/);
    one(/^web_echo .*"authorization":"\[authorization\]"/);
    one(/^remote_echo Echo: over stdio/);
    one(/^remote_get-env .*\[KEY\]/s);
    one(/^mine hello you/);
    one(/^helper as deep as it goes/);
    one(/^files_read written/);
    one(/^files_read tool_denied/);
    one(/^shell .*"stdout":"written"/);
    one(/^shell tool_denied/);
    expect(finished.find((event) => event.name === "remote_get-tiny-image")?.images).to.have.length(1);
    const rejected = events.filter((event) => event.type === "tool_call.rejected");
    expect(rejected.map((event) => event.error.code)).to.deep.equal(["tool_invalid_arguments"]);
    expect(JSON.stringify(events)).not.to.match(/hidden-(?:token|key|env)/);
  });

  it("an agent called as a tool is a run of its own that names its parent, and ends where the depth does", async () => {
    const { runs } = await host.runs.list({ agent: "helper" });
    expect(runs).to.have.length(1);
    const [child] = runs;
    expect(child?.request.parent?.depth).to.equal(1);
    const events = await eventsOf(child?.run ?? "");
    const call = events.find((event) => event.type === "tool.finished");
    expect(call).to.have.nested.property("error.code", "tool_denied");
  });

  it("cancelling a run kills the command it waits for", async () => {
    const { run } = await host.runs.start({ agent: "waiting", input: { text: "wait" } });
    let pid = 0;
    for await (const batch of host.runs.follow(run)) {
      for (const event of batch) {
        await answer(run, event);
        if (event.type === "tool.output") pid = Number(event.text);
      }
      if (pid > 0) break;
    }
    expect(existsSync(`/proc/${pid}`)).to.equal(true);
    await host.runs.cancel(run);
    expect(existsSync(`/proc/${pid}`)).to.equal(false);
    const events = await eventsOf(run);
    expect(events.filter(isTerminal)).to.have.length(1);
    expect(events.at(-1)).to.have.nested.property("error.code", "stream_interrupted");
  });
});
