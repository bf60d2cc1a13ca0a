// Every entry point of the package that runs in Node, in one program: an own tool, an own plugin, a scripted model, the simulator.
import { agent, openVenturi, tool } from "venturi";
import { VenturiClient } from "venturi/client";
import { definePlugin, VenturiError } from "venturi/plugin";
import { startSimulator } from "venturi/simulator";
import { testVenturi } from "venturi/testing";
import { z } from "zod";

const multiply = tool({
  name: "multiply",
  description: "Multiplies two numbers",
  input: z.object({ a: z.number(), b: z.number() }),
  effect: "pure",
  call: ({ a, b }) => a * b,
});
const assistant = agent({ name: "assistant", model: "simulator/small", instructions: "Be brief.", tools: [multiply] });

await using venturi = await openVenturi({ agents: [assistant] });
const { text } = await venturi.run(assistant, "Multiply 17 and 23");

const plugin = definePlugin({ name: "mine", kind: "tool", options: z.strictObject({}), create: () => ({}) });
if (!VenturiError.isInstance(new VenturiError("check", "internal", "an error"))) throw new Error("two VenturiErrors");
if (typeof VenturiClient !== "function") throw new Error("no client");

await using scripted = await testVenturi({ agents: [assistant], script: [["pong"]] });
const pong = await scripted.run(assistant, "ping");

const simulator = await startSimulator();
await simulator.close();
console.log(text.match(/\d{3}/)[0], plugin.name, pong.text, multiply.name === "multiply" ? 391 : 0);
