// A configuration whose agents are the tools that the conformance suite calls. The model is the simulator, each agent a script.
import { fileURLToPath } from "node:url";
import { png } from "./fixtures.mjs";

const path = fileURLToPath(new URL("./fixtures.mjs", import.meta.url));
const tool = (name) => ({ type: "module", path, export: name });
const names = [
  "image",
  "audio",
  "file",
  "mixed",
  "contacts",
  "profile",
  "choices",
  "wait",
  "confirm",
  "person",
  "state",
  "color",
];

const call = (name, given = {}) => [{ calls: [{ name, arguments: given }] }, { text: "Done: {{results}}" }];
/** A call whose id is the key that the suite expects of its question. */
const asked = (...calls) => [
  ...calls.map(([id, name]) => ({ calls: [{ id, name, arguments: {} }] })),
  { text: "Done: {{results}}" },
];
const say = (text) => [{ text }];
/** Any argument may be left out: the suite calls many without. */
const optional = { note: { type: "string", default: "" } };

const agents = {
  test_simple_text: { turns: say("This is a simple text response for testing.") },
  test_image_content: { turns: call("image") },
  test_audio_content: { turns: call("audio") },
  test_embedded_resource: { turns: call("file") },
  test_multiple_content_types: { turns: call("mixed") },
  test_tool_with_logging: { turns: call("image") },
  test_error_handling: { turns: [{ error: { status: 400, message: "This agent fails for testing" } }] },
  test_tool_with_progress: { turns: [{ text: "one two three four five six", pace: 20 }] },
  test_reconnection: { turns: [{ text: "one two three four five six", pace: 50 }] },
  test_elicitation: { turns: call("contacts", { username: "", email: "" }), inputs: { message: { type: "string" } } },
  test_elicitation_sep1034_defaults: {
    turns: call("profile", { name: "John Doe", age: 30, score: 95.5, status: "active", verified: true }),
  },
  test_elicitation_sep1330_enums: { turns: call("choices") },
  test_input_required_result_elicitation: { turns: asked(["user_name", "person"]) },
  test_input_required_result_request_state: { turns: asked(["confirm", "state"]) },
  test_input_required_result_multi_round: { turns: asked(["step1", "person"], ["step2", "color"]) },
  test_input_required_result_tampered_state: { turns: asked(["confirm", "state"]) },
  test_input_required_result_capabilities: { turns: say("nothing is asked of a client that takes no forms") },
  test_streaming_elicitation: { turns: asked(["confirm", "state"]) },
  test_logging_tool: { turns: call("image") },
  test_simple_prompt: { turns: say("a prompt") },
  test_prompt_with_arguments: {
    turns: say("a prompt"),
    inputs: { arg1: { type: "string", description: "First" }, arg2: { type: "string", description: "Second" } },
  },
  greet: { turns: say("Hello, World!"), inputs: { name: { type: "string" } } },
  slow_compute: {
    turns: call("wait", { seconds: 2 }),
    inputs: { seconds: { type: "number" }, label: { type: "string", default: "" } },
  },
  failing_job: { turns: [{ error: { status: 400, message: "This agent fails for testing" }, faults: ["delay=1000"] }] },
  confirm_delete: { turns: call("confirm", { filename: "a.txt" }), inputs: { filename: { type: "string" } } },
};

const resources = [
  { uri: "test://static-text", name: "text", text: "This is the content of the static text resource." },
  {
    uri: "test://static-binary",
    name: "picture",
    mimeType: "image/png",
    file: fileURLToPath(new URL("./picture.png", import.meta.url)),
  },
  {
    uri: "test://template/{id}/data",
    name: "template",
    mimeType: "application/json",
    text: '{"id":"{{id}}","templateTest":true,"data":"Data for ID: {{id}}"}',
  },
];
const text = (words) => ({ role: "user", content: { type: "text", text: words } });
const prompts = {
  test_prompt_with_embedded_resource: {
    description: "A resource in a prompt",
    arguments: { resourceUri: { description: "The resource to embed", required: true } },
    messages: [
      {
        role: "user",
        content: {
          type: "resource",
          resource: { uri: "{{resourceUri}}", mimeType: "text/plain", text: "Embedded resource content for testing." },
        },
      },
      text("Please process the embedded resource above."),
    ],
  },
  test_prompt_with_image: {
    description: "A picture in a prompt",
    messages: [
      { role: "user", content: { type: "image", mimeType: "image/png", data: png } },
      text("Please analyze the image above."),
    ],
  },
};

export const configuration = ({ port }) => ({
  version: 1,
  dataFolder: "./data",
  providers: {
    demo: {
      type: "simulator",
      wire: "anthropic",
      pace: 0,
      scenarios: Object.entries(agents).map(([name, { turns }]) => ({ name, advance: "round", turns })),
    },
  },
  tools: Object.fromEntries(names.map((name) => [name, tool(name)])),
  agents: Object.fromEntries(
    Object.entries(agents).map(([name, { inputs = optional }]) => [
      name,
      { description: `For the conformance suite: ${name}`, model: `demo/${name}`, tools: names, inputs },
    ]),
  ),
  journal: { type: "memory" },
  server: { listen: `127.0.0.1:${port}` },
  channels: { mcp: { taskAfter: "300ms", resources, prompts }, http: {} },
});
