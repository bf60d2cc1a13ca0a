import type { Client, ReadResourceResult } from "@modelcontextprotocol/client";
import { defineTool, fromToolOptions, type Tool, type ToolContext } from "venturi/plugin";
import { z } from "zod";
import type { McpOptions } from "./options.ts";
import { toOutput } from "./result.ts";

/** What a server has besides tools, for models: they look at lists and take what they need. */
export interface ContextOffer {
  readonly options: McpOptions;
  readonly prefix: string;
  use<T>(context: ToolContext, work: (client: Client) => Promise<T>): Promise<T>;
  redact(text: string): string;
}

const none = z.strictObject({});
/** More entries of a list are left out. */
const mostListed = 500;

export function contextTools(offer: ContextOffer): Tool[] {
  const { resources, prompts } = offer.options;
  return [...(resources ? resourceTools(offer) : []), ...(prompts ? promptTools(offer) : [])];
}

const common = ({ options }: ContextOffer) => ({ ...fromToolOptions(options), effect: "pure" as const });

function resourceTools(offer: ContextOffer): Tool[] {
  const list = defineTool({
    ...common(offer),
    name: `${offer.prefix}list_resources`,
    description: "Lists the server's resources and the templates of their addresses.",
    input: none,
    call: (_, context) =>
      offer.use(context, async (client) => {
        const { signal } = context;
        const { resources } = await client.listResources(undefined, { signal });
        const { resourceTemplates } = await client.listResourceTemplates(undefined, { signal });
        const shown = resources.slice(0, mostListed).map(({ uri, name, description, mimeType }) => ({
          uri,
          name,
          ...(description === undefined ? {} : { description }),
          ...(mimeType === undefined ? {} : { mimeType }),
        }));
        const templates = resourceTemplates.slice(0, mostListed).map(({ uriTemplate, name, description }) => ({
          uriTemplate,
          name,
          ...(description === undefined ? {} : { description }),
        }));
        return offer.redact(JSON.stringify({ resources: shown, templates }));
      }),
  });
  const read = defineTool({
    ...common(offer),
    name: `${offer.prefix}read_resource`,
    description: "Reads one of the server's resources.",
    input: z.strictObject({ uri: z.string().min(1).max(4_096).describe("address of the resource") }),
    call: ({ uri }, context) =>
      offer.use(context, async (client) => {
        const { contents } = await client.readResource({ uri }, { signal: context.signal });
        return toOutput({ content: contents.map(blockOf) }, offer.redact);
      }),
  });
  return [list, read];
}

/** Pictures are shown to the model, texts and documents as of a tool's result. */
function blockOf(resource: ReadResourceResult["contents"][number]): object {
  const { mimeType = "" } = resource;
  if ("blob" in resource && mimeType.startsWith("image/")) return { type: "image", mimeType, data: resource.blob };
  return { type: "resource", resource };
}

function promptTools(offer: ContextOffer): Tool[] {
  const list = defineTool({
    ...common(offer),
    name: `${offer.prefix}list_prompts`,
    description: "Lists the server's prompts: instructions for tasks that it knows, and their arguments.",
    input: none,
    call: (_, context) =>
      offer.use(context, async (client) => {
        const { prompts } = await client.listPrompts(undefined, { signal: context.signal });
        const shown = prompts.slice(0, mostListed).map(({ name, description, arguments: given = [] }) => ({
          name,
          ...(description === undefined ? {} : { description }),
          arguments: given,
        }));
        return offer.redact(JSON.stringify(shown));
      }),
  });
  const get = defineTool({
    ...common(offer),
    name: `${offer.prefix}get_prompt`,
    description: "Gets one of the server's prompts, filled in.",
    input: z.strictObject({
      name: z.string().min(1).max(256),
      arguments: z.record(z.string(), z.string()).default({}).describe("a text for each of the prompt's arguments"),
    }),
    call: ({ name, arguments: given }, context) =>
      offer.use(context, async (client) => {
        const { messages } = await client.getPrompt({ name, arguments: given }, { signal: context.signal });
        const content = messages.flatMap(({ role, content: block }) => [{ type: "text", text: `${role}:` }, block]);
        return toOutput({ content }, offer.redact);
      }),
  });
  return [list, get];
}
