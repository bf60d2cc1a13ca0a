import { definePlugin, fromToolOptions, type Tool, type ToolSource } from "venturi/plugin";
import { egressOf } from "./hosts.ts";
import { readOpenApi } from "./openapi.ts";
import { fromConfig, type Operation } from "./operation.ts";
import { HttpToolOptions } from "./options.ts";
import { secretsOf } from "./secrets.ts";
import { Sender } from "./send.ts";

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
