// Tools of the agents in agents.mjs: what the conformance suite wants to see in the results of calls.
import { RichOutput } from "venturi/plugin";

export const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const wav = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
const pdf = Buffer.from("%PDF-1.4").toString("base64");
const nothing = { type: "object", properties: {} };
const pure = { parameters: nothing, effect: "pure" };

export const image = {
  ...pure,
  description: "An image",
  call: () => new RichOutput("an image", [{ mediaType: "image/png", data: png }]),
};
export const audio = {
  ...pure,
  description: "A sound",
  call: () => new RichOutput("a sound", [], [{ mediaType: "audio/wav", data: wav }]),
};
export const file = {
  ...pure,
  description: "A document",
  call: () => new RichOutput("a document", [], [{ mediaType: "application/pdf", data: pdf, name: "a.pdf" }]),
};
export const mixed = {
  ...pure,
  description: "An image and a document",
  call: () =>
    new RichOutput(
      "both",
      [{ mediaType: "image/png", data: png }],
      [{ mediaType: "application/pdf", data: pdf, name: "a.pdf" }],
    ),
};

const contact = { username: { type: "string" }, email: { type: "string" } };
export const contacts = {
  description: "Writes an address down",
  parameters: { type: "object", properties: contact },
  approval: "always",
  call: (given) => `noted ${JSON.stringify(given)}`,
};
export const profile = {
  description: "Writes a profile down",
  parameters: {
    type: "object",
    properties: {
      name: { type: "string" },
      age: { type: "integer" },
      score: { type: "number" },
      status: { type: "string", enum: ["active", "inactive", "pending"] },
      verified: { type: "boolean" },
    },
  },
  approval: "always",
  call: (given) => `noted ${JSON.stringify(given)}`,
};
const titled = ["value1", "value2", "value3"].map((name) => ({ const: name, title: name.toUpperCase() }));
const plain = ["option1", "option2", "option3"];
export const choices = {
  description: "Writes choices down",
  parameters: {
    type: "object",
    properties: {
      untitledSingle: { type: "string", enum: plain },
      titledSingle: { type: "string", oneOf: titled },
      legacyEnum: { type: "string", enum: plain, enumNames: ["One", "Two", "Three"] },
      untitledMulti: { type: "array", items: { type: "string", enum: plain } },
      titledMulti: { type: "array", items: { anyOf: titled } },
    },
  },
  approval: "always",
  call: (given) => `noted ${JSON.stringify(given)}`,
};
export const wait = {
  description: "Waits",
  parameters: { type: "object", properties: { seconds: { type: "number" } } },
  effect: "pure",
  timeout: 120_000,
  call: ({ seconds }, { signal }) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => resolve(`waited ${seconds} s`), seconds * 1_000);
      signal.addEventListener("abort", () => {
        clearTimeout(timer);
        reject(signal.reason);
      });
    }),
};
const form = (description, properties, call) => ({
  description,
  parameters: { type: "object", properties },
  approval: "always",
  call,
});
export const person = form("Greets", { name: { type: "string" } }, ({ name }) => `Hello, ${name}!`);
export const state = form("Goes on", { ok: { type: "boolean" } }, () => "state-ok");
export const color = form("Paints", { color: { type: "string" } }, ({ color: wanted }) => `painted ${wanted}`);
export const confirm = {
  description: "Deletes a file",
  parameters: { type: "object", properties: { filename: { type: "string" } } },
  approval: "always",
  call: ({ filename }) => `deleted ${filename}`,
};
