/** A small MCP server over stdio: a library of three notes. */
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const notes = [
  { title: "The Venturi effect", text: "Where a pipe narrows, the fluid flows faster and its pressure falls." },
  {
    title: "Measuring flow",
    text: "The difference of pressure before and in the throat of a Venturi tube tells the flow.",
  },
  { title: "Bernoulli's principle", text: "Along a streamline, faster flow means lower pressure." },
];

serveStdio(() => {
  const server = new McpServer({ name: "library", version: "1.0.0" });
  server.registerTool(
    "search",
    {
      description: "Searches the notes of the library, which are about the Venturi effect, flow and pressure",
      inputSchema: z.object({ topic: z.string().describe("Words to search for") }),
      annotations: { readOnlyHint: true },
    },
    ({ topic }) => ({ content: [{ type: "text", text: search(topic) }] }),
  );
  return server;
});

function search(topic) {
  const words = topic
    .toLowerCase()
    .split(/\W+/)
    .filter((word) => word.length > 3);
  const found = notes.filter(({ title, text }) =>
    words.some((word) => `${title} ${text}`.toLowerCase().includes(word)),
  );
  return found.map(({ title, text }) => `${title}: ${text}`).join("\n") || "nothing found";
}
