import { headerSecrets } from "venturi/internal";
import type { HttpToolOptions } from "./options.ts";

const tellsSecret = /key|token|secret|password|signature|auth|credential/i;

/** Credentials from the config; a server that echoes them must not reveal them to the model. Two operations may have one name for theirs. */
export function secretsOf(options: HttpToolOptions): Record<string, string>[] {
  const operations = Object.values(options.operations);
  const headers = [options.headers, ...operations.map((operation) => operation.headers)];
  return [
    ...headers.map((each) => headerSecrets(fixed(Object.entries(each)))),
    ...operations.map(({ query, url }) => {
      const inUrl = new URLSearchParams(/\?([^#]*)/.exec(url)?.[1]);
      return fixed([...inUrl, ...Object.entries(query)].filter(([name]) => tellsSecret.test(name)));
    }),
  ];
}

/** Without those that the model fills in. */
const fixed = (entries: readonly (readonly [string, string])[]): Record<string, string> =>
  Object.fromEntries(entries.filter(([, value]) => !value.includes("{")));
