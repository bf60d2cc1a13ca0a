// What is mutated.

const tools = "a2a agent ask calculator clock files http later mcp memorize module recall remember shell";
/** Each room has its own score. */
const folders = {
  agent: ["src/agent"],
  journal: ["src/journal"],
  provider: ["src/provider"],
  "host/runs": ["src/host/runs"],
  "host/http": ["src/host/http"],
  tools: tools.split(" ").map((name) => `plugins/${name}`),
};
export const rooms = Object.keys(folders);
export const mutatedFolders = Object.values(folders).flat();

export const roomOf = (name) => rooms.find((room) => folders[room].some((folder) => name.startsWith(`${folder}/`)));
