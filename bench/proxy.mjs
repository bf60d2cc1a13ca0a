// A raw pass-through in its own process: what any service in between costs at least.
import { Agent, createServer, request } from "node:http";

const agent = new Agent({ keepAlive: true });
const target = new URL(`${process.argv[2]}/chat/completions`);
const server = createServer((incoming, response) => {
  const forward = request(target, { method: "POST", agent, headers: incoming.headers }, (answer) => {
    response.writeHead(answer.statusCode, answer.headers);
    answer.pipe(response);
  });
  incoming.pipe(forward);
});
server.listen(0, "127.0.0.1", 4096, () => process.send(server.address().port));
process.on("disconnect", () => process.exit());
