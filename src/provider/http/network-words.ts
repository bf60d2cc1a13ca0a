const untrusted = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
]);

/** Explains a connection failure where Node and OpenSSL only give a code. */
export function networkWords(code: string | undefined, said: string): string {
  if (
    /wrong version number|packet length too long|WRONG_VERSION_NUMBER/i.test(said) ||
    code === "ERR_SSL_WRONG_VERSION_NUMBER"
  )
    return "it does not speak TLS at this address; does baseUrl say https where it should say http?";
  if (code !== undefined && untrusted.has(code))
    return `its certificate is not signed by an authority that is trusted here (${code}); NODE_EXTRA_CA_CERTS adds one`;
  if (code === "CERT_HAS_EXPIRED") return "its certificate has expired";
  if (code === "CERT_NOT_YET_VALID") return "its certificate is not valid yet; is the clock right?";
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID") return `its certificate is for another name (${said})`;
  if (code === "ECONNREFUSED") return `nothing listens there (${said})`;
  if (code === "ENOTFOUND") return `its host name is not known (${said})`;
  if (code === "EPROTO" || code?.startsWith("ERR_SSL")) return `TLS failed (${code})`;
  return said;
}
