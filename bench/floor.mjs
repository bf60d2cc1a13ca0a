// The least a program can do on Node's own HTTP client: split by hand, JSON.parse per chunk, one loop for the tools.
import { Agent, request } from "node:http";

export default async function floor({ baseURL }) {
  const agent = new Agent({ keepAlive: true, scheduling: "lifo" });
  const url = new URL(`${baseURL}/chat/completions`);
  return {
    async run(model, hooks) {
      const messages = [{ role: "user", content: "go" }];
      let text = "";
      for (;;) {
        const answer = { text: "", calls: [] };
        await post(url, agent, JSON.stringify({ model, stream: true, messages }), (data) => take(data, answer, hooks));
        text += answer.text;
        if (answer.calls.length === 0) return text;
        messages.push({ role: "assistant", content: null, tool_calls: answer.calls });
        for (const call of answer.calls) {
          messages.push({
            role: "tool",
            tool_call_id: call.id,
            content: String(hooks.tool(JSON.parse(call.arguments))),
          });
        }
      }
    },
  };
}

function post(url, agent, body, onData) {
  return new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    const sent = request(url, { method: "POST", agent, headers }, (response) => {
      let rest = "";
      response.setEncoding("utf8");
      response.on("data", (piece) => {
        const text = rest + piece;
        let at = 0;
        for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", at)) {
          if (end - at > 6) onData(text.slice(at + 6, end));
          at = end + 1;
        }
        rest = text.slice(at);
      });
      response.on("end", resolve);
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

function take(data, answer, hooks) {
  if (data === "[DONE]") return;
  const delta = JSON.parse(data).choices[0]?.delta;
  if (delta?.content) {
    answer.text += delta.content;
    hooks.text(delta.content);
  }
  for (const { index, id, function: called } of delta?.tool_calls ?? []) {
    answer.calls[index] ??= { id, name: called.name, arguments: "" };
    answer.calls[index].arguments += called.arguments;
  }
}
