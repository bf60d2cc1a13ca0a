// Written by npm run generate.
export * from "../plugin-channel.ts";
