/** File contents by path within the plugin's folder. */
export type PluginFiles = Readonly<Record<string, string>>;
