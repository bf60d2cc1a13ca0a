import type { HttpToolOptions } from "./options.ts";

const tellsSecret = /key|token|secret|password|signature|auth|credential/i;
const harmlessHeader = /^(?:accept|content-type|user-agent|accept-language)$/i;

/** Credentials from the config; a server that echoes them must not reveal them to the model. */
export function secretsOf(options: HttpToolOptions): Record<string, string> {
  const secrets: Record<string, string> = {};
  const operations = Object.values(options.operations);
  for (const headers of [options.headers, ...operations.map((operation) => operation.headers)]) {
    for (const [name, value] of Object.entries(headers)) {
      if (harmlessHeader.test(name) || value.includes("{")) continue;
      secrets[name] = value;
      secrets[`${name} value`] = value.replace(/^\w+\s+/, ""); // Both "Bearer abc" and "abc" alone.
    }
  }
  for (const { query } of operations) {
    for (const [name, value] of Object.entries(query)) if (tellsSecret.test(name)) secrets[name] = value;
  }
  return secrets;
}
