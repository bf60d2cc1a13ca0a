// The client that the conformance suite drives: `conformance client --command "node client.mjs"` appends the server's URL.
// A service in this process with one agent, whose only tools come from that server and whose simulated model calls them in turn.
// This program is also the person: it signs in and accepts the server's forms as they are.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

const dist = new URL("../../dist/", import.meta.url).href;
const { openService } = await import(`${dist}src/host/service.js`);
const { silentLog } = await import(`${dist}src/core/ports/log.js`);
// The suite's servers are on loopback, at ports that only they know.
const { Egress } = await import(`${dist}src/provider/egress/egress.js`);
Egress.prototype.mayBePrivate = () => true;

const url = process.argv.at(-1);
const scenario = process.env.MCP_CONFORMANCE_SCENARIO ?? "";
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const port = Number(process.env.VENTURI_MCP_PORT ?? 47391);

/** The tools that a scenario's server expects to be called, one a round; nothing is called where there is none. */
const calls = {
  initialize: [],
  tools_call: [{ name: "add_numbers", arguments: { a: 5, b: 3 } }],
  "elicitation-sep1034-client-defaults": [{ name: "test_client_elicitation_defaults" }],
  "sse-retry": [{ name: "test_reconnection" }],
  "request-metadata": [],
  "sep-2322-client-request-state": [
    { name: "test_mrtr_echo_state" },
    { name: "test_mrtr_unrelated" },
    { name: "test_mrtr_no_state" },
    { name: "test_mrtr_no_result_type" },
  ],
  "http-standard-headers": [{ name: "test_headers" }],
  "http-invalid-tool-headers": [{ name: "valid_tool", arguments: { region: "us" } }],
  "json-schema-ref-no-deref": [],
  "json-schema-2020-12-preservation": [],
};
const isAuth = scenario.startsWith("auth/");
const wanted = context.toolCalls ?? calls[scenario] ?? [{ name: "test-tool" }];
const rounds = wanted.map(({ name, arguments: given = {} }) => ({ name: `remote_${name}`, arguments: given }));

function authOf() {
  if (!isAuth) return undefined;
  const shared = { ...(context.client_id === undefined ? {} : { clientId: context.client_id }) };
  if (scenario.startsWith("auth/client-credentials")) {
    return {
      grant: "client",
      ...shared,
      ...(context.client_secret === undefined ? {} : { clientSecret: context.client_secret }),
      ...(context.private_key_pem === undefined
        ? {}
        : { privateKey: context.private_key_pem, algorithm: context.signing_algorithm ?? "ES256" }),
    };
  }
  return {
    ...shared,
    ...(context.client_secret === undefined ? {} : { clientSecret: context.client_secret }),
    redirectUrl: `http://localhost:${port}/mcp/callback`,
    secret: "a secret of the conformance run",
    clientMetadataUrl: "https://conformance-test.local/client-metadata.json",
  };
}

const auth = authOf();
const connect = auth !== undefined && auth.grant !== "client" ? [{ calls: [{ name: "remote_connect" }] }] : [];
const script = {
  name: "script",
  advance: "round",
  turns: [...connect, ...rounds.map((call) => ({ calls: [call] })), { text: "Done: {{results}}" }],
};
const config = {
  version: 1,
  providers: { demo: { type: "simulator", scenarios: [script] } },
  models: { main: { chain: ["demo/script"] } },
  tools: { remote: { type: "mcp", url, ...(auth === undefined ? {} : { auth }) } },
  agents: { tester: { description: "Calls tools.", model: "main", instructions: "Call them.", tools: ["remote"] } },
  journal: { type: "memory" },
  channels: { mcp: {} },
  server: { listen: `127.0.0.1:${port}` },
  telemetry: { logs: { level: "silent" } },
};

const folder = await mkdtemp(join(tmpdir(), "venturi-conformance-"));
const file = join(folder, "venturi.yaml");
await writeFile(file, JSON.stringify(config, null, 2)); // JSON is YAML
try {
  const service = await openService({ configFile: file, log: silentLog });
  const { runs } = service.host;
  const { run } = await runs.start({ agent: "tester", input: { text: "go" } });
  for await (const batch of runs.follow(run)) {
    for (const event of batch) {
      if (process.env.VENTURI_MCP_EVENTS) console.error(JSON.stringify(event));
      if (event.type === "question.asked") await answer(runs, event);
      if (event.type === "tool.finished" && !event.ok) console.error(event.error?.err);
      if (event.type === "run.failed") process.exitCode = 1;
    }
  }
  await service.drain("interrupt");
} catch (thrown) {
  console.error(String(thrown));
  process.exitCode = 1;
}
await rm(folder, { recursive: true, force: true });
setTimeout(() => process.exit(), 500).unref();

async function answer(runs, { run, call, name, url: page, schema }) {
  if (name !== "sign_in") {
    const filled = Object.entries(schema?.properties ?? {}).filter(([, field]) => field.default !== undefined);
    const reply = Object.fromEntries(filled.map(([key, field]) => [key, field.default]));
    return void (await runs.signal(run, "approve", { call, approved: true, by: "person", answer: reply }));
  }
  const reply = await fetch(page, { redirect: "manual" });
  const back = reply.headers.get("location");
  const seen = back === null ? undefined : await fetch(back);
  if (seen?.ok !== true) await runs.signal(run, "approve", { call, approved: false, by: "person" });
}
