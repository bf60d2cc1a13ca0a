import { MemoryOwners, MemoryScope, noteOfCall } from "venturi/internal";
import { definePlugin, fromToolOptions, MemoryRegistry, type Tool, toolOptions, VenturiError } from "venturi/plugin";
import { z } from "zod";

const Options = z.strictObject({
  ...toolOptions,
  store: z.string().describe("The entry of `memories` that keeps the notes"),
  scope: MemoryScope.default("user").describe("Whose notes: the run's `session`, its `user`, or the `agent`'s own"),
  description: z.string().min(1).optional().describe("Description for the model"),
});

const parameters = z.strictObject({
  text: z
    .string()
    .min(1)
    .max(64_000)
    .describe("One fact, in full sentences, that can be understood without this conversation"),
});

export default definePlugin({
  name: "memorize",
  kind: "tool",
  description: "Keeps a note for later conversations",
  options: Options,
  check: ({ store }, { memories = [] }) =>
    memories.includes(store) ? [] : [{ path: ["store"], message: `"${store}" is not among the memories` }],
  create(options, { name, clock, runs, resolve }): Tool {
    const { store, scope, description = "Keeps a note that later conversations can recall. No secrets." } = options;
    const owners = new MemoryOwners(runs);
    return {
      name,
      description,
      parameters: parameters as unknown as Tool["parameters"], // Arguments are validated before the call.
      // Starts once the answer is complete; a repeated call finds its note by id.
      effect: "effectful",
      resumable: true,
      store,
      ...fromToolOptions(options),
      async call(input, context) {
        const { text } = input as z.output<typeof parameters>;
        const notes = resolve(MemoryRegistry).get(store);
        if (notes === undefined) throw new VenturiError("memory.put", "unavailable", `the memory ${store} is disabled`);
        const place = await owners.placeOf(scope, context);
        const { agent, run, caller: by, signal, traceparent } = context;
        const id = noteOfCall(context.idempotencyKey);
        const note = { id, text, at: clock.now(), agent, run, ...(by === undefined ? {} : { by }) };
        const { usage, cost } = await notes.put(place, note, { existing: "keep", signal, traceparent });
        if (usage !== undefined) context.spent(usage, cost);
        return `noted as ${id}`;
      },
    };
  },
});
