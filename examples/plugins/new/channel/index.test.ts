import { channelContract } from "venturi/testing";
import plugin from "./index.ts";

channelContract("my-plugin", {
  plugin,
  async ask(url, agent, { signal, onText }) {
    const response = await fetch(`${url}/my-plugin`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ agent, text: "hello" }),
      signal,
    });
    if (!response.ok) return { text: "", error: await response.text() };
    let text = "";
    for await (const event of eventsOf(response)) {
      if (event.error !== undefined) return { text, error: event.error };
      text += event.say ?? "";
      onText(event.say ?? "");
    }
    return { text };
  },
});

async function* eventsOf(response: Response): AsyncGenerator<{ say?: string; error?: string }> {
  const decoder = new TextDecoder();
  let waiting = "";
  for await (const bytes of response.body ?? []) {
    const parts = (waiting + decoder.decode(bytes, { stream: true })).split("\n\n");
    waiting = parts.pop() ?? "";
    for (const part of parts) if (part.startsWith("data: ")) yield JSON.parse(part.slice(6));
  }
}
