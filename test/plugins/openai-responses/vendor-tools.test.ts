import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import type { RunEvent } from "../../../src/core/run/events.ts";
import { openHost } from "../../../src/host/open.ts";
import { testFolder } from "../../host/folder.ts";
import { created, finished } from "./streams.ts";

type Item = Record<string, unknown>;

const done =
  'data: {"type":"response.completed","response":{"id":"r","status":"completed","output":[],"usage":{}}}\n\n';
const itemOf = (item: Item): string => finished(0, JSON.stringify(item).slice(1, -1));
const answer = itemOf({
  id: "m",
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "done", annotations: [] }],
});

/** The vendor: asks for the item once, then says "done"; keeps what it was sent. */
async function vendor(item: Item) {
  const bodies: { input: Item[]; tools: Item[] }[] = [];
  const server: Server = createServer((request, response) => {
    let text = "";
    request.on("data", (data) => {
      text += data;
    });
    request.on("end", () => {
      bodies.push(JSON.parse(text));
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.end(created + (bodies.length === 1 ? itemOf(item) : answer) + done);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { bodies, server, port: (server.address() as AddressInfo).port };
}

describe("calls of OpenAI's own tools, carried out by shell and files", function () {
  this.timeout(180_000);
  const folder = testFolder();

  const run = async (item: Item, { tools = "[shell, files]", verdict = true, approval = "never" } = {}) => {
    mkdirSync(folder.path("work/src"), { recursive: true });
    writeFileSync(folder.path("work/hello.txt"), "hello\n");
    const { bodies, server, port } = await vendor(item);
    writeFileSync(
      folder.path("venturi.yaml"),
      `
version: 1
providers: { gpt: { type: openai-responses, apiKey: k, baseUrl: "http://127.0.0.1:${port}/v1" } }
models: { main: { chain: [gpt/codex-mini], options: { tools: [{ type: local_shell }, { type: shell }, { type: apply_patch }] } } }
tools:
  shell: { type: shell, cwd: work, sandbox: approve, approval: ${approval}, timeout: 60s, commands: [cat, ls, echo, { name: sh, argv: [/bin/sh, -c], arguments: any }] }
  files: { type: files, root: work, write: true, approval: ${approval} }
agents: { coder: { model: main, instructions: Work., tools: ${tools} } }
journal: { type: memory }
`,
    );
    const host = await openHost({ configFile: folder.path("venturi.yaml") });
    const events: RunEvent[] = [];
    try {
      const { run } = await host.runs.start({ agent: "coder", input: { text: "go" } });
      for await (const batch of host.runs.follow(run)) {
        for (const event of batch) {
          events.push(event);
          if (event.type === "approval.requested") {
            await host.runs.signal(run, "approve", { call: event.call, approved: verdict });
          }
        }
      }
    } finally {
      await host.close();
      server.close();
    }
    const sent = bodies[1]?.input ?? [];
    return { events, bodies, called: sent.at(-2), output: sent.at(-1) as Item };
  };

  const local = (command: string[], more: Item = {}): Item => ({
    id: "lsh_1",
    type: "local_shell_call",
    call_id: "call_1",
    status: "completed",
    action: { type: "exec", command, env: {}, timeout_ms: null, user: null, working_directory: null, ...more },
  });
  const shell = (commands: string[], more: Item = {}): Item => ({
    id: "sh_1",
    type: "shell_call",
    call_id: "call_1",
    status: "completed",
    action: { commands, timeout_ms: null, max_output_length: null, ...more },
  });
  const patch = (operation: Item): Item => ({
    id: "apc_1",
    type: "apply_patch_call",
    call_id: "call_1",
    status: "completed",
    operation,
  });

  it("a local_shell_call is run by the tool that is called shell, and answered as local_shell_call_output", async () => {
    const item = local(["cat", "hello.txt"]);
    const { events, called, output, bodies } = await run(item);
    expect(called).to.deep.equal(item);
    expect(output).to.include({ type: "local_shell_call_output", id: "call_1", status: "completed" });
    expect(JSON.parse(String(output.output))).to.deep.equal({ stdout: "hello\n", stderr: "", exit_code: 0 });
    expect(events.find((event) => event.type === "tool.started")).to.include({ name: "shell" });
    // What is offered as the vendor's own is not offered as a function too.
    const offered = bodies[0]?.tools.map((tool) => tool.name ?? tool.type);
    expect(offered).to.include.members(["local_shell", "shell", "apply_patch", "files_read"]);
    expect(bodies[0]?.tools.filter((tool) => tool.type === "function").map((tool) => tool.name)).not.to.include.members(
      ["shell", "files_patch"],
    );
  });

  it("bash -lc with a plain command is that command, in the folder it asks for; with more in it, it is for sh", async () => {
    const plain = await run(
      local(["bash", "-lc", "echo 'a  b' c\\ d"], { working_directory: "src", timeout_ms: 60_000 }),
    );
    expect(JSON.parse(String(plain.output.output))).to.include({ stdout: "a  b c d\n" });
    const piped = await run(local(["bash", "-lc", "cat hello.txt | tr a-z A-Z"]));
    expect(JSON.parse(String(piped.output.output))).to.include({ stdout: "HELLO\n" });
  });

  it("each command of a shell_call has its output and outcome, and the bound goes back", async () => {
    const item = shell(["cat hello.txt", "cd src && ls", "cat nothing"], { max_output_length: 4096 });
    const { output, called } = await run(item);
    expect(called).to.deep.equal(item);
    expect(output).to.include({ type: "shell_call_output", call_id: "call_1", max_output_length: 4096 });
    const outputs = output.output as { stdout: string; stderr: string; outcome: Item }[];
    expect(outputs.map(({ stdout }) => stdout)).to.deep.equal(["hello\n", "", ""]);
    expect(outputs.map(({ outcome }) => outcome)).to.deep.equal([
      { type: "exit", exit_code: 0 },
      { type: "exit", exit_code: 0 },
      { type: "exit", exit_code: 1 },
    ]);
  });

  it("one that takes too long has the outcome timeout, one that may not run says why", async () => {
    const slow = await run(shell(["echo a", "sleep 100; echo b"], { timeout_ms: 2_000 }));
    expect((slow.output.output as { outcome: Item }[]).map(({ outcome }) => outcome.type)).to.deep.equal([
      "exit",
      "timeout",
    ]);
    const denied = await run(shell(["cat hello.txt", "cd .. && cat venturi.yaml"]));
    const [refused] = denied.output.output as { stderr: string; outcome: Item }[];
    expect(refused?.stderr).to.contain("tool_denied");
    expect(refused?.outcome).to.deep.equal({ type: "exit", exit_code: 1 });
    const unknown = await run(local(["rm", "-rf", "."]));
    expect(String(unknown.output.output)).to.contain("tool_invalid_arguments");
    const env = await run(local(["cat", "hello.txt"], { env: { LD_PRELOAD: "x" } }));
    expect(String(env.output.output)).to.contain("env");
  });

  it("an apply_patch_call creates, updates and deletes, and says failed when it did not", async () => {
    const path = "src/door.ts";
    const made = await run(patch({ type: "create_file", path, diff: "+class Door {\n+  open = false;\n+}\n" }));
    expect(made.output).to.include({ type: "apply_patch_call_output", call_id: "call_1", status: "completed" });
    const diff = "@@ class Door {\n-  open = false;\n+  open = true;\n+  locked = false;\n }\n";
    expect((await run(patch({ type: "update_file", path, diff }))).output.status).to.equal("completed");
    expect(readFileSync(folder.path("work/src/door.ts"), "utf8")).to.equal(
      "class Door {\n  open = true;\n  locked = false;\n}\n",
    );
    const again = await run(patch({ type: "update_file", path, diff }));
    expect(again.output).to.include({ status: "failed" });
    expect(again.output.output).to.contain("is not in the file");
    expect((await run(patch({ type: "create_file", path, diff: "+x" }))).output.status).to.equal("failed");
    expect((await run(patch({ type: "create_file", path: "../x", diff: "+x" }))).output.output).to.contain(
      "tool_denied",
    );
    expect((await run(patch({ type: "delete_file", path }))).output.status).to.equal("completed");
    expect(existsSync(folder.path("work/src/door.ts"))).to.equal(false);
  });

  it("approvals are asked as for any call, also by a condition on the tool's own arguments", async () => {
    const denied = await run(local(["echo", "x"]), { approval: "always", verdict: false });
    expect(denied.events.map((event) => event.type)).to.include("approval.requested");
    expect(String(denied.output.output)).to.contain("tool_denied");
    const deletes = `{ when: 'operation.type == "delete_file"' }`;
    const made = await run(patch({ type: "create_file", path: "asked.txt", diff: "+x" }), { approval: deletes });
    expect(made.events.map((event) => event.type)).not.to.include("approval.requested");
    const gone = await run(patch({ type: "delete_file", path: "asked.txt" }), { approval: deletes });
    expect(gone.events.map((event) => event.type)).to.include("approval.requested");
  });

  it("without a sandbox a person sees the exact command line of a vendor's call", async () => {
    const { events } = await run(local(["bash", "-lc", "cat hello.txt | wc -c"]), { verdict: false });
    const asked = events.find((event) => event.type === "approval.requested");
    expect(asked?.arguments).to.deep.equal({
      commands: [{ argv: ["/bin/sh", "-c", "cat hello.txt | wc -c"], directory: realpathSync(folder.path("work")) }],
    });
    expect(asked?.reason).to.equal("without a sandbox: /bin/sh -c 'cat hello.txt | wc -c'");
  });

  it("without a tool for it the model gets an error", async () => {
    const { output } = await run(local(["ls"]), { tools: "[files]" });
    expect(String(output.output)).to.contain('there is no tool \\"local_shell\\"');
  });

  it("the outputs are items that the vendor's SDK knows", () => {
    const types = readFileSync("node_modules/openai/resources/responses/responses.d.ts", "utf8");
    for (const type of ["local_shell_call_output", "shell_call_output", "apply_patch_call_output"]) {
      expect(types).to.contain(`type: '${type}'`);
    }
  });
});
