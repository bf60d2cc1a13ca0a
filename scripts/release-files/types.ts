// Compiled, not run: the types of every entry point, as a program of one's own sees them.
import { type Agent, agent, openVenturi, type Result, tool, type Venturi } from "venturi";
import { type RunEvent, VenturiClient } from "venturi/client";
import { definePlugin, defineTool, type GenerationRequest, VenturiError } from "venturi/plugin";
import { type Simulator, startSimulator } from "venturi/simulator";
import { type TestVenturi, testVenturi } from "venturi/testing";
import { z } from "zod";

const add = tool({
  name: "add",
  description: "Adds",
  input: z.object({ a: z.number() }),
  call: ({ a }) => a.toFixed(1),
});
const adder = agent({ name: "adder", model: "simulator/small", instructions: "", tools: [add] });
export const venturi: Promise<Venturi> = openVenturi({ agents: [adder] });
export const result: Promise<Result> = venturi.then((opened) => opened.run(adder, "hello"));
export const test: Promise<TestVenturi> = testVenturi({ agents: [adder], script: [["hello"]] });
export const simulator: Promise<Simulator> = startSimulator();
export const client = new VenturiClient({ url: "http://127.0.0.1:7070" });
export const typeOf = (event: RunEvent): string => event.type;
export const isAgent = (value: Agent): string => value.name;
export const rounds = (request: GenerationRequest): number => request.messages.length;
// @ts-expect-error: were the types `any`, this would be allowed
export const wrong: number = new VenturiError("op", "internal", "message").code;
export default definePlugin({
  name: "mine",
  kind: "tool",
  options: z.strictObject({ city: z.string() }),
  create: ({ city }, { name }) =>
    defineTool({ name, description: city, input: z.strictObject({}), effect: "pure", call: () => city.length }),
});
