import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { assert } from "chai";
import { openVenturi } from "../../src/index.ts";
import { Loopback } from "../provider/loopback.ts";
import * as chat from "./openai/streams.ts";
import * as responses from "./openai-responses/streams.ts";

/** The first answer calls the clock, the second one says something; returns what was asked the second time. */
async function secondRequest(type: string, first: string, second: string): Promise<Record<string, unknown>> {
  const folder = await mkdtemp(join(tmpdir(), "round-trip-"));
  const answers = [first, second];
  const server = await Loopback.start((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).end(answers.shift());
  });
  const configFile = join(folder, "venturi.yaml");
  await writeFile(
    configFile,
    `version: 1
providers: { up: { type: ${type}, apiKey: key-1234, baseUrl: "${server.url}" } }
tools: { clock: { type: clock } }
agents: { helper: { model: up/m, instructions: Help., tools: [clock] } }
journal: { type: memory }
channels: {}
telemetry: off
`,
  );
  const venturi = await openVenturi({ configFile, env: {} });
  try {
    const { output } = await venturi.agent("helper").execute("What time is it?");
    assert.equal(output, "Late.");
    return JSON.parse(server.requests[1]?.body ?? "") as Record<string, unknown>; // a request that we have made
  } finally {
    await venturi.close();
    await server.stop();
    await rm(folder, { recursive: true });
  }
}

describe("reasoning and calls through a whole run", () => {
  it("go back to a Chat Completions server in the field and with the signature they came with, also of a call that was refused", async () => {
    const body = await secondRequest(
      "openai",
      chat.event('{"reasoning_content":"The user "}') +
        chat.event('{"reasoning_content":"wants the time."}') +
        chat.fragment(
          '"index":0,"id":"c1","extra_content":{"google":{"thought_signature":"c2ln"}},"function":{"name":"clock","arguments":"{\\"zone\\":\\"UTC\\"}"}',
          '"index":1,"id":"c2","extra_content":{"google":{"thought_signature":"c2lnMg=="}},"function":{"name":"clock","arguments":"{}"}',
        ) +
        chat.calls +
        chat.done,
      chat.event('{"content":"Late."}') + chat.stop + chat.done,
    );
    const messages = body.messages as Record<string, unknown>[];
    assert.deepInclude(messages.at(-3), {
      role: "assistant",
      reasoning_content: "The user wants the time.",
      tool_calls: [
        {
          id: "c1",
          type: "function",
          function: { name: "clock", arguments: '{"zone":"UTC"}' },
          extra_content: { google: { thought_signature: "c2ln" } },
        },
        {
          id: "c2",
          type: "function",
          function: { name: "clock", arguments: "{}" },
          extra_content: { google: { thought_signature: "c2lnMg==" } },
        },
      ],
    });
    assert.deepInclude(messages.at(-1), { role: "tool", tool_call_id: "c2" });
  });

  it("go back to a Responses server as the items they were", async () => {
    const thought =
      '"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"Look."}],"encrypted_content":"Z0FBQQ=="';
    const search = '"id":"ws_1","type":"web_search_call","status":"completed"';
    const body = await secondRequest(
      "openai-responses",
      responses.created +
        responses.finished(0, thought) +
        responses.finished(1, search) +
        responses.finished(2, responses.call("c1", "clock", '{"zone":"UTC"}')) +
        responses.completed(),
      responses.created + responses.textDelta(0, "Late.") + responses.completed(),
    );
    const input = (body.input as Record<string, unknown>[]).slice(-4);
    assert.deepEqual(input.slice(0, 3), [
      JSON.parse(`{${thought}}`),
      JSON.parse(`{${search}}`),
      { type: "function_call", call_id: "c1", name: "clock", arguments: '{"zone":"UTC"}' },
    ]);
    assert.deepInclude(input[3], { type: "function_call_output", call_id: "c1" });
  });
});
