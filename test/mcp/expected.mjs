// Scenarios of the conformance suite that do not pass, and why. Anything else that fails, or one of these that passes, is news.
const runsOnly = "the channel's resources are runs and sessions; the suite reads fixtures of its own (test://…)";
const noSampling = "agents have models of their own: the server never asks for its client's (deprecated in 2026-07-28)";
const noFixture = "the suite's fixture is no agent: what it wants asked or embedded cannot be said in a configuration";
const stateless = "stateless: there is no stream to announce changes on; in 2026-07-28 that is subscriptions/listen";

export const server = {
  "tools-call-sampling": noSampling,
  "json-schema-2020-12": "inputs of agents in a configuration are a list of fields, without $defs",
  "resources-read-text": runsOnly,
  "resources-read-binary": runsOnly,
  "resources-templates-read": runsOnly,
  "resources-subscribe": stateless,
  "resources-unsubscribe": stateless,
  "prompts-get-embedded-resource": "prompts are forms of an agent's inputs, as text",
  "prompts-get-with-image": "prompts are forms of an agent's inputs, as text",
};

export const serverModern = {
  "server-stateless": "wants tools of its own (test_missing_capability, …); 24 of its 28 checks pass",
  "json-schema-2020-12": server["json-schema-2020-12"],
  "resources-read-text": runsOnly,
  "resources-read-binary": runsOnly,
  "resources-templates-read": runsOnly,
  "prompts-get-embedded-resource": server["prompts-get-embedded-resource"],
  "prompts-get-with-image": server["prompts-get-with-image"],
  "http-custom-header-server-validation": "no agent's input asks to be sent as a header (x-mcp-header)",
  "input-required-result-basic-elicitation": noFixture,
  "input-required-result-basic-sampling": noSampling,
  "input-required-result-basic-list-roots": "roots are not asked for (deprecated in 2026-07-28)",
  "input-required-result-request-state": noFixture,
  "input-required-result-multiple-input-requests": noFixture,
  "input-required-result-multi-round": noFixture,
  "input-required-result-non-tool-request": "prompts ask nothing",
  "input-required-result-tampered-state": noFixture,
  "input-required-result-capability-check": noFixture,
  "input-required-result-ignore-extra-params": noFixture,
};

export const client = {
  "auth/2025-03-26-oauth-metadata-backcompat":
    "its metadata names another issuer than the address it comes from, which is refused (RFC 8414, mix-up)",
  "auth/cross-app-access-complete-flow": "the extension for identity providers of enterprises is not spoken",
};
