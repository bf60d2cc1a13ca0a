import { createReadStream } from "node:fs";
import type { Command } from "commander";
import { VenturiError, wrap } from "../core/errors/errors.ts";
import type { Delta } from "../core/model/deltas.ts";
import type { Wire } from "../core/ports/plugin.ts";
import { wireNamed } from "../host/inspect/wires.ts";
import { PluginLoader } from "../host/plugins/plugin-loader.ts";
import type { OpenCall } from "../provider/accumulate.ts";
import { Pipeline } from "../provider/decode.ts";
import { Transcript } from "../provider/transcript.ts";
import { example } from "./globals.ts";
import { showJson } from "./screen.ts";
import { unreadable } from "./system-error.ts";

const op = "cli.decode";

export function configure(command: Command): void {
  command
    .argument("<file...>", "recorded response bodies")
    .requiredOption("--wire <name>", "the wire format, such as openai-chat")
    .addHelpText("after", example("venturi decode --wire openai-chat response.sse"))
    .action(async (files: string[], options: { wire: string }) => {
      const wire = await wireNamed(op, new PluginLoader(), options.wire);
      for (const file of files) showJson(process.stdout, JSON.stringify(await decodeFile(file, wire)));
    });
}

/** The decoded file as one object. A failed stream is reported in `error`, next to what came before; an unreadable file throws. */
async function decodeFile(file: string, wire: Wire): Promise<Record<string, unknown>> {
  const pipeline = new Pipeline("provider.stream", wire);
  const transcript = new Transcript();
  try {
    for await (const read of createReadStream(file)) {
      const deltas: Delta[] = [];
      pipeline.push(read as Buffer, deltas); // A file stream without an encoding yields Buffers.
      transcript.push(deltas);
    }
    const last: Delta[] = [];
    pipeline.end(last);
    transcript.push(last);
  } catch (thrown) {
    if (!VenturiError.isInstance(thrown)) throw unreadable(op, file, thrown);
    transcript.error ??= wrap(op, thrown);
  }
  return describe(file, transcript, pipeline.quirks);
}

function describe(file: string, transcript: Transcript, quirks: ReadonlyMap<string, number>): Record<string, unknown> {
  const vendorCalls = transcript.calls.filter((call) => call.kind !== undefined);
  return {
    file,
    text: transcript.text,
    reasoning: transcript.reasoning,
    refusal: transcript.refusal,
    toolCalls: transcript.calls.filter((call) => call.kind === undefined).map(describeCall),
    ...(vendorCalls.length > 0 && {
      vendorCalls: vendorCalls.map((call) => ({ kind: call.kind, ...describeCall(call) })),
    }),
    finish: transcript.done?.finish,
    raw: transcript.done?.raw,
    usage: transcript.usage ?? {},
    quirks: [...quirks.keys()],
    ...(transcript.error !== undefined && { error: transcript.error }),
  };
}

function describeCall(call: OpenCall): Record<string, unknown> {
  const { id, name } = call;
  const result = call.result();
  if (result.ok) return { id, name, arguments: result.arguments };
  return { id, name, arguments: { __invalid_json: result.raw }, error: result.error };
}
