const shape = /^([a-z]+:\/\/(?:[^/?#]*@)?)([^/?#@]*)([^?]*)(?:\?(.*))?$/;
const tlsParameters = ["ssl", "sslmode", "sslrootcert", "sslcert", "sslkey"];

/** Expands `postgres://user@a:5432,b:5433/database` to one URL per server. `tls` overrides the URL. */
export function addressesOf(url: string, options: { readonly tls: boolean }): string[] {
  const [, start, hosts, path = "", query = ""] = shape.exec(url) ?? [];
  if (start === undefined || hosts === undefined) return [url];
  const parameters = new URLSearchParams(query);
  if (options.tls) for (const name of tlsParameters) parameters.delete(name);
  else verifyFully(parameters);
  const rest = parameters.size === 0 ? path : `${path}?${parameters}`;
  return hosts.split(",").map((host) => `${start}${host}${rest}`);
}

/** Pins `pg`'s current meaning of these modes: its next version will check less, and warns about it. */
function verifyFully(parameters: URLSearchParams): void {
  const mode = parameters.get("sslmode");
  if (parameters.has("uselibpqcompat") || mode === null) return;
  if (["prefer", "require", "verify-ca"].includes(mode)) parameters.set("sslmode", "verify-full");
}
