// Scenarios of the conformance suite that do not pass, and why. Anything else that fails, or one of these that passes, is news.
const noSampling = "agents have models of their own: the server never asks for its client's (deprecated in 2026-07-28)";
const noRoots = "roots are not asked for (deprecated in 2026-07-28)";
const stateless = "stateless: there is no stream to announce changes on; in 2026-07-28 that is subscriptions/listen";
const noDefs =
  "inputs of an agent are a list of fields, each with a schema; there is no schema around them for $defs, allOf and if";

export const server = {
  "tools-call-sampling": noSampling,
  "json-schema-2020-12": noDefs,
  "resources-subscribe": stateless,
  "resources-unsubscribe": stateless,
};

export const serverModern = {
  "server-stateless":
    "26 of 28 checks pass; for the others a call has to fail at a client without forms (test_missing_capability): here its run waits for somebody who can answer",
  "json-schema-2020-12": noDefs,
  "http-custom-header-server-validation":
    "no input asks to be sent as a header (x-mcp-header): over stdio, which is passed on as HTTP, nobody would send it",
  "input-required-result-basic-sampling": noSampling,
  "input-required-result-basic-list-roots": noRoots,
  "input-required-result-multiple-input-requests": `${noSampling}; ${noRoots}`,
  "input-required-result-non-tool-request": "prompts ask nothing",
  "input-required-result-capability-check": `it wants a request for sampling; ${noSampling}`,
  "input-required-result-ignore-extra-params":
    "it sends answers without the state of the call that asked: here an answer belongs to a question that was asked",
};

export const client = {
  "auth/2025-03-26-oauth-metadata-backcompat":
    "its metadata names another issuer than the address it comes from, which is refused (RFC 8414, mix-up)",
  "auth/cross-app-access-complete-flow": "the extension for identity providers of enterprises is not spoken",
};
