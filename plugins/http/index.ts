import {
  definePlugin,
  egressOptions,
  fromToolOptions,
  Size,
  type Tool,
  type ToolSource,
  toolOptions,
} from "venturi/plugin";
import { z } from "zod";
import { egressOf } from "./hosts.ts";
import { readOpenApi } from "./openapi.ts";
import { fromConfig, type Operation, OperationOptions } from "./operation.ts";
import { secretsOf } from "./secrets.ts";
import { Sender } from "./send.ts";

export const HttpToolOptions = z.strictObject({
  ...toolOptions,
  operations: z.record(z.string().regex(/^[A-Za-z0-9_-]{1,48}$/), OperationOptions).default({}),
  openapi: z
    .strictObject({
      file: z.string().describe("OpenAPI 3 document, JSON or YAML; relative to the config's folder"),
      operations: z.array(z.string()).min(1).describe("operationIds to offer"),
      server: z.url().optional().describe("in place of the document's own server"),
      effects: z.record(z.string(), z.enum(["pure", "idempotent", "effectful"])).default({}),
    })
    .optional(),
  headers: z.record(z.string(), z.string()).default({}).describe("sent with every request; never shown"),
  ...egressOptions,
  maxResponse: Size.default(1_048_576),
  maxRedirects: z.number().int().min(0).max(10).default(3).describe("followed for GET and HEAD, within the hosts"),
  idempotencyHeader: z.string().default("Idempotency-Key"),
});
export type HttpToolOptions = z.output<typeof HttpToolOptions>;

const defaultTimeout = 30_000;

export default definePlugin({
  name: "http",
  kind: "tool",
  description: "Named HTTP operations, from the config or an OpenAPI document",
  options: HttpToolOptions,
  async create(options, context): Promise<ToolSource & { close(): void }> {
    const operations = [
      ...Object.entries(options.operations).map(([name, operation]) => fromConfig(name, operation)),
      ...(options.openapi === undefined ? [] : await readOpenApi(options.openapi, context.folder)),
    ];
    const egress = egressOf(options, operations);
    const sender = new Sender(options, egress, secretsOf(options));
    const tools: readonly Tool[] = operations.map((operation) =>
      toTool(operation, { options, sender, key: context.name }),
    );
    return { list: () => tools, close: () => sender.close() };
  },
});

function toTool(
  operation: Operation,
  { options, sender, key }: { options: HttpToolOptions; sender: Sender; key: string },
): Tool {
  return {
    ...fromToolOptions(options),
    timeout: (options.timeout ?? defaultTimeout) + 1_000,
    name: `${key}_${operation.name}`.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 64),
    description: operation.description,
    parameters: operation.parameters,
    effect: operation.effect,
    call: (input, call) => sender.send(operation, input, { call, timeout: options.timeout ?? defaultTimeout }),
  };
}
