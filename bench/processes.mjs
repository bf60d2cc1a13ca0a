// Children of a benchmark: each is asked one thing at a time and answers once.
import { fork } from "node:child_process";
import { once } from "node:events";

const children = new Set();

export async function upstream() {
  const child = start("./upstream.mjs", []);
  const [port] = await once(child, "message");
  return `http://127.0.0.1:${port}/v1`;
}

export async function worker(subject, baseURL) {
  const child = start("./worker.mjs", [subject, baseURL], ["--expose-gc"]);
  await once(child, "message");
  const ask = async (command) => {
    child.send(command);
    const [answer] = await once(child, "message");
    if (answer.error) throw new Error(`${subject}: ${answer.error}`);
    return answer;
  };
  return Object.assign(ask, { stop: () => child.kill() });
}

export function stop() {
  for (const child of children) child.kill();
}

export const median = (values) => [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)];

function start(file, args, execArgv = []) {
  const child = fork(new URL(file, import.meta.url), args, { execArgv, stdio: ["ignore", "ignore", "inherit", "ipc"] });
  children.add(child);
  return child;
}
