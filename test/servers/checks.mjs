// What every server is asked through Venturi; each rejects with what went wrong.
export const checks = {
  async stream(url, agent) {
    const events = await runEvents(url, agent, "Say hello.");
    if (!events.some(({ type }) => type === "text.delta")) throw new Error(`no text: ${JSON.stringify(events.at(-1))}`);
    if (events.at(-1)?.type !== "run.finished") throw new Error(JSON.stringify(events.at(-1)));
  },
  async whole(url, agent) {
    const events = await runEvents(url, `${agent}-whole`, "Say hello.");
    const last = events.at(-1);
    if (last?.type !== "run.finished" || last.output === "") throw new Error(JSON.stringify(last));
  },
  async tool(url, agent) {
    const events = await runEvents(url, `${agent}-tool`, "What is 17 * 23?");
    const last = events.at(-1);
    if (!events.some(({ type, ok }) => type === "tool.finished" && ok)) throw new Error(JSON.stringify(last));
    if (!String(last?.output).includes("391")) throw new Error(JSON.stringify(last));
  },
  async limit(url, agent) {
    const last = (await runEvents(url, `${agent}-limit`, "Say hello.")).at(-1);
    if (last?.finish !== "length") throw new Error(`it did not end at the limit: ${JSON.stringify(last)}`);
    await this.bound(url, agent);
  },
  async bound(url, agent) {
    const last = (await runEvents(url, `${agent}-limit`, "Say hello.")).at(-1);
    if (!(last.usage.outputTokens <= 6)) throw new Error(`${last.usage.outputTokens} tokens instead of 5`);
  },
  async embed(url, agent) {
    const response = await fetch(`${url}/openai/v1/embeddings`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: agent, input: ["a cat", "a dog"] }),
      signal: AbortSignal.timeout(120_000),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    const { data } = JSON.parse(text);
    if (data.length !== 2 || data.some(({ embedding }) => embedding.length < 8)) throw new Error(text.slice(0, 200));
  },
};

async function runEvents(url, agent, input) {
  const response = await fetch(`${url}/v1/runs`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream" },
    body: JSON.stringify({ agent, input }),
    signal: AbortSignal.timeout(120_000),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text.split("\n").flatMap((line) => (line.startsWith("data: ") ? [JSON.parse(line.slice(6))] : []));
}
