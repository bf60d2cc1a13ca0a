import type {
  AgentContext,
  ClientCapabilities,
  CreateElicitationRequest,
  PermissionOption,
  RequestPermissionRequest,
} from "@agentclientprotocol/sdk";
import type { EventOf } from "../../core/run/events.ts";
import type { AskedEvent } from "../../core/run/questions.ts";
import type { SignalBody } from "../../core/run/signals.ts";
import { isJsonObject, type JsonObject } from "../../serve/json-rpc.ts";
import type { ToolView } from "./tool-views.ts";
import { textContent } from "./updates.ts";

export interface Asking {
  readonly client: AgentContext;
  readonly capabilities: ClientCapabilities;
  readonly sessionId: string;
  readonly toolCallId: string;
  readonly view: (name: string, input: JsonObject) => ToolView;
  /** Aborts when the question is closed without this client. */
  readonly closed: AbortSignal;
}

/** `always`: for all later calls of the tool in this session. */
export type Answer = Omit<SignalBody<"approve">, "call"> & { readonly always?: true };

/** The editor user's answer; undefined if it can only be asked in the conversation. Only a clear yes approves. */
export async function askClient(asking: Asking, event: AskedEvent): Promise<Answer | undefined> {
  if (event.type === "approval.requested") return await approve(asking, event);
  if (event.url !== undefined) return await pick(asking, event, ["Done"], () => ({ approved: true }));
  if (event.choices !== undefined) {
    return await pick(asking, event, event.choices, (answer) => ({ approved: true, answer }));
  }
  if (isPresent(asking.capabilities.elicitation?.form)) return await fill(asking, event);
  return undefined;
}

const isPresent = (value: unknown): boolean => value !== undefined && value !== null;

const said = "acp";

async function approve(asking: Asking, event: EventOf<"approval.requested">): Promise<Answer> {
  const { name, arguments: input, reason, show = [], origin } = event;
  const { title, kind, locations, diffs } = asking.view(name, input);
  const notes = [
    ...(origin === undefined ? [] : [`asked by the agent ${origin.agent}`]),
    ...show.map((each) => `${each.name}: ${each.value}`),
    ...(reason === undefined ? [] : [reason]),
  ];
  const chosen = await permission(asking, {
    toolCall: {
      toolCallId: asking.toolCallId,
      title,
      kind,
      status: "pending",
      rawInput: input,
      locations,
      content: [...diffs.map((diff) => ({ type: "diff" as const, ...diff })), ...notes.map(textContent)],
    },
    options: [
      { optionId: "allow", name: "Allow", kind: "allow_once" },
      { optionId: "always", name: `Always allow ${name} in this session`, kind: "allow_always" },
      { optionId: "reject", name: "Reject", kind: "reject_once" },
    ],
  });
  if (chosen === "allow") return { approved: true, by: said };
  if (chosen === "always") return { approved: true, by: said, for: "run", always: true };
  return refused(chosen === "reject" ? "the user rejected it" : "the user dismissed the question");
}

/** Shows a question with few answers as options. */
async function pick(
  asking: Asking,
  { message, url }: EventOf<"question.asked">,
  choices: readonly string[],
  answerOf: (choice: string) => Answer,
): Promise<Answer> {
  const options: PermissionOption[] = choices.map((name, at) => ({
    optionId: `choice-${at}`,
    name,
    kind: "allow_once",
  }));
  const text = url === undefined ? message : `${message}\n${url}`;
  const chosen = await permission(asking, {
    toolCall: { toolCallId: asking.toolCallId, title: message, status: "pending", content: [textContent(text)] },
    options: [...options, { optionId: "decline", name: "Decline", kind: "reject_once" }],
  });
  const choice = choices[options.findIndex(({ optionId }) => optionId === chosen)];
  if (choice === undefined)
    return refused(chosen === "decline" ? "the user declined" : "the user dismissed the question");
  return { ...answerOf(choice), by: said };
}

async function fill(asking: Asking, { message, schema }: EventOf<"question.asked">): Promise<Answer> {
  const { client, sessionId, toolCallId } = asking;
  const textForm = { type: "object", properties: { answer: { type: "string" } }, required: ["answer"] };
  const requestedSchema = schema ?? textForm;
  // ACP forms are flat; the answer is checked against the question's schema later.
  const request = { mode: "form", sessionId, toolCallId, message, requestedSchema } as CreateElicitationRequest;
  const given: unknown = await orDismissed(client.request("elicitation/create", request, waiting(asking)));
  if (!isJsonObject(given) || given.action !== "accept" || !isJsonObject(given.content)) {
    return refused("the user declined");
  }
  return { approved: true, by: said, answer: schema === undefined ? given.content.answer : given.content };
}

/** The option the client chose, if it is one it was offered. */
async function permission(
  asking: Asking,
  request: Omit<RequestPermissionRequest, "sessionId">,
): Promise<string | undefined> {
  const { client, sessionId } = asking;
  const sent = client.request("session/request_permission", { sessionId, ...request }, waiting(asking));
  const reply: unknown = await orDismissed(sent); // The library does not validate replies.
  const outcome = isJsonObject(reply) && isJsonObject(reply.outcome) ? reply.outcome : {};
  if (outcome.outcome !== "selected") return undefined;
  return request.options.find(({ optionId }) => optionId === outcome.optionId)?.optionId;
}

const waiting = ({ closed }: Asking) => ({ cancellationSignal: closed, stopWaitingOnCancel: true });

/** A client that cannot ask or has disconnected did not say yes. */
const orDismissed = <T>(reply: Promise<T>): Promise<T | undefined> => reply.catch(() => undefined);

const refused = (reason: string): Answer => ({ approved: false, by: said, reason });
