import type { Channel } from "./channel.ts";
import type { Provider } from "./provider.ts";
import { token } from "./token.ts";
import type { Tool } from "./tool.ts";

/** What the plugins of one kind made, by the key of the config. Filled while it is opened: what comes later is found later. */
export interface Registry<Port> {
  names(): readonly string[];
  get(name: string): Port | undefined;
  /** Makes the instances; once. */
  open?(): Promise<void>;
}

/** Measured, and recorded where the config says so. */
export type ProviderRegistry = Registry<Provider>;
export const ProviderRegistry = token<ProviderRegistry>("ProviderRegistry");

/** The tools that each entry stands for now: a source's may change. */
export type ToolRegistry = Registry<() => readonly Tool[]>;
export const ToolRegistry = token<ToolRegistry>("ToolRegistry");

export type ChannelRegistry = Registry<Channel>;
export const ChannelRegistry = token<ChannelRegistry>("ChannelRegistry");
