import type { Provider } from "../model/provider.ts";
import { token } from "../values/token.ts";
import type { Channel } from "./channel.ts";
import type { Tool } from "./tool.ts";

/** Instances of one kind of plugin by config key. Filled while the config is opened, so later entries appear later. */
export interface Registry<Port> {
  names(): readonly string[];
  get(name: string): Port | undefined;
  /** Creates the instances, once. */
  open?(): Promise<void>;
}

/** Instrumented, and recording where the config says so. */
export type ProviderRegistry = Registry<Provider>;
export const ProviderRegistry = token<ProviderRegistry>("ProviderRegistry");

/** The tools each entry currently offers; a source's list may change. */
export type ToolRegistry = Registry<() => readonly Tool[]>;
export const ToolRegistry = token<ToolRegistry>("ToolRegistry");

export type ChannelRegistry = Registry<Channel>;
export const ChannelRegistry = token<ChannelRegistry>("ChannelRegistry");
