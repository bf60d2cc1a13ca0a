// A pass-through that stores each chunk in SQLite before it passes it on, in its own process: what durable tokens cost at least.
// One row and one commit a chunk, on a thread as in the service, without events, runs, leases or anything to read it back with.
import { Agent, createServer, request } from "node:http";
import { DatabaseSync } from "node:sqlite";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

if (isMainThread) pass(process.argv[2], process.argv[3]);
else store(workerData);

function pass(baseURL, file) {
  const agent = new Agent({ keepAlive: true });
  const target = new URL(`${baseURL}/chat/completions`);
  const worker = new Worker(new URL(import.meta.url), { workerData: file });
  const stored = [];
  worker.on("message", () => stored.shift()());
  const server = createServer((incoming, response) => {
    const forward = request(target, { method: "POST", agent, headers: incoming.headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      const then = (chunk, next) => {
        stored.push(next);
        worker.postMessage(chunk);
      };
      answer.setEncoding("utf8");
      answer.on("data", (chunk) => then(chunk, () => response.write(chunk)));
      answer.on("end", () => then("", () => response.end()));
    });
    incoming.pipe(forward);
  });
  server.listen(0, "127.0.0.1", 4096, () => process.send(server.address().port));
  process.on("disconnect", () => process.exit());
}

function store(file) {
  const database = new DatabaseSync(file);
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE chunks (body TEXT)");
  const insert = database.prepare("INSERT INTO chunks VALUES (?)");
  parentPort.on("message", (chunk) => {
    insert.run(chunk);
    parentPort.postMessage(true);
  });
}
