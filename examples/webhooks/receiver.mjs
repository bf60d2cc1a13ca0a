// A receiver of Venturi's webhooks: checks the signature, answers at once, and does each message once.
//   WEBHOOK_SECRET=… node receiver.mjs [port]
import { createHmac, timingSafeEqual } from "node:crypto";
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from "node:fs";
import { createServer } from "node:http";
import { argv, env, exit, pid, stdout } from "node:process";

const secret = env.WEBHOOK_SECRET ?? "";
if (secret === "") {
  stdout.write("set WEBHOOK_SECRET to the secret of the webhook\n");
  exit(2);
}
const key = secret.startsWith("whsec_") ? Buffer.from(secret.slice(6), "base64") : Buffer.from(secret);
const tolerance = 5 * 60; // seconds
const file = env.WEBHOOK_SEEN ?? `/tmp/venturi-webhooks-${pid}.txt`;

/** Ids of what was done. In your database: in the same transaction as what you do. */
const seen = new Set(existsSync(file) ? readFileSync(file, "utf8").split("\n") : []);
const log = openSync(file, "a");

createServer((request, response) => {
  const parts = [];
  let size = 0;
  request.on("data", (part) => {
    size += part.length;
    if (size > 1_048_576) request.destroy();
    else parts.push(part);
  });
  request.on("end", () => {
    const body = Buffer.concat(parts);
    const id = String(request.headers["webhook-id"] ?? "");
    if (!isSigned(request.headers, id, body)) return response.writeHead(401).end();
    // The same id means the same message: a retry after an answer that got lost.
    if (!seen.has(id)) {
      const { type, data } = JSON.parse(body.toString());
      stdout.write(`${type} ${data.run} ${data.status ?? data.name ?? ""}\n`);
      writeSync(log, `${id}\n`);
      fsyncSync(log);
      seen.add(id);
    }
    response.writeHead(204).end();
  });
})
  .listen(Number(argv[2] ?? 9099), "127.0.0.1", function () {
    stdout.write(`waiting at http://127.0.0.1:${this.address().port}\n`);
  })
  .on("close", () => closeSync(log));

/** Standard Webhooks: HMAC-SHA256 of `id.timestamp.body`, in base64 after `v1,`; several while a secret is replaced. */
function isSigned(headers, id, body) {
  const timestamp = String(headers["webhook-timestamp"] ?? "");
  if (id === "" || Math.abs(Date.now() / 1_000 - Number(timestamp)) > tolerance) return false;
  const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
  return String(headers["webhook-signature"] ?? "")
    .split(" ")
    .filter((each) => each.startsWith("v1,"))
    .map((each) => Buffer.from(each.slice(3), "base64"))
    .some((given) => given.length === expected.length && timingSafeEqual(given, expected));
}
