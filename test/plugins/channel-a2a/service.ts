import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Message, SendMessageRequest, StreamResponse, Task } from "@a2a-js/sdk";
import { Role, TaskState } from "@a2a-js/sdk";
import { type Client, ClientFactory, ClientFactoryOptions } from "@a2a-js/sdk/client";

const serviceModule = new URL("../../../src/host/service.js", import.meta.url).href;
const logModule = new URL("../../../src/core/ports/log.js", import.meta.url).href;

/** The SDK's own client, by the agent's card. */
export const connect = (url: string, agent: string): Promise<Client> =>
  new ClientFactory(ClientFactoryOptions.default).createFromUrl(`${url}/a2a/${agent}/`);

let counter = 0;

export const say = (text: string, more: Partial<Message> = {}): Message => ({
  messageId: `m-${process.pid}-${counter++}`,
  contextId: "",
  taskId: "",
  role: Role.ROLE_USER,
  parts: [{ content: { $case: "text", value: text }, metadata: undefined, filename: "", mediaType: "" }],
  metadata: undefined,
  extensions: [],
  referenceTaskIds: [],
  ...more,
});

export const sending = (message: Message, configuration: object | undefined = undefined): SendMessageRequest => ({
  tenant: "",
  message,
  configuration: configuration as never, // as little of it as a test needs
  metadata: undefined,
});

export const settings = (more: object = {}) => ({
  acceptedOutputModes: [],
  taskPushNotificationConfig: undefined,
  returnImmediately: false,
  ...more,
});

export function taskIn(result: Task | Message): Task {
  if ("status" in result) return result;
  throw new Error("a message came in place of a task");
}

export const stateOf = (task: Task): string => TaskState[task.status?.state ?? -1] ?? "";

export const textOf = (parts: Task["artifacts"][number]["parts"] | undefined): string =>
  (parts ?? []).map(({ content }) => (content?.$case === "text" ? content.value : "")).join("");

export const answerOf = ({ artifacts }: Task): string => textOf(artifacts[0]?.parts);

export interface Streamed {
  readonly kinds: string[];
  readonly states: string[];
  /** As a client puts the artifact together from its updates. */
  readonly text: string;
  readonly task: Task | undefined;
}

export async function readStream(updates: AsyncIterable<StreamResponse>): Promise<Streamed> {
  const kinds: string[] = [];
  const states: string[] = [];
  let text = "";
  let task: Task | undefined;
  for await (const { payload } of updates) {
    if (payload === undefined) throw new Error("an update without a payload");
    kinds.push(payload.$case);
    if (payload.$case === "task") task = payload.value;
    if (payload.$case === "statusUpdate") states.push(TaskState[payload.value.status?.state ?? -1] ?? "");
    if (payload.$case !== "artifactUpdate") continue;
    const { artifact, append } = payload.value;
    text = append ? text + textOf(artifact?.parts) : textOf(artifact?.parts);
  }
  return { kinds, states, text, task };
}

/** A service in its own process. */
export async function replica(configFile: string) {
  const script = `
    const { openService } = await import(${JSON.stringify(serviceModule)});
    const { silentLog } = await import(${JSON.stringify(logModule)});
    const { url } = await openService({ configFile: ${JSON.stringify(configFile)}, log: silentLog });
    console.log(url);`;
  const child = spawn(process.execPath, ["--no-warnings", "--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [url] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return { child, url };
}
