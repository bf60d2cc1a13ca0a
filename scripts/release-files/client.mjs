import { VenturiClient } from "venturi/client";

const client = new VenturiClient({ url: process.argv[2] });
const run = await client.start({ agent: "assistant", input: "What is 17 * 23?" });
for await (const event of run.events()) if (event.type === "run.finished") console.log(event.output);
