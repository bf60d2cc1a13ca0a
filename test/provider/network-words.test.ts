import { expect } from "chai";
import { networkWords } from "../../src/provider/http/network-words.ts";

describe("why a connection failed", () => {
  const cases: [string | undefined, string, RegExp][] = [
    ["EPROTO", "write EPROTO: wrong version number", /does not speak TLS/],
    ["ERR_SSL_PACKET_LENGTH_TOO_LONG", "packet length too long", /does not speak TLS/],
    ["ERR_SSL_WRONG_VERSION_NUMBER", "", /does not speak TLS/],
    ["DEPTH_ZERO_SELF_SIGNED_CERT", "self-signed", /trusted here \(DEPTH_ZERO_SELF_SIGNED_CERT\).*NODE_EXTRA_CA_CERTS/],
    ["SELF_SIGNED_CERT_IN_CHAIN", "", /trusted here/],
    ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", "", /trusted here/],
    ["UNABLE_TO_GET_ISSUER_CERT", "", /trusted here/],
    ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", "", /trusted here/],
    ["CERT_HAS_EXPIRED", "certificate", /has expired/],
    ["CERT_NOT_YET_VALID", "certificate", /not valid yet/],
    ["ERR_TLS_CERT_ALTNAME_INVALID", "not in altnames", /for another name \(not in altnames\)/],
    ["ECONNREFUSED", "connect x:1", /^nothing listens there \(connect x:1\)$/],
    ["ENOTFOUND", "getaddrinfo x", /host name is not known \(getaddrinfo x\)/],
    ["EPROTO", "handshake", /^TLS failed \(EPROTO\)$/],
    ["ERR_SSL_TLSV1_ALERT", "", /^TLS failed \(ERR_SSL_TLSV1_ALERT\)$/],
    ["ECONNRESET", "read ECONNRESET", /^read ECONNRESET$/],
    [undefined, "socket hang up", /^socket hang up$/],
  ];
  for (const [code, said, words] of cases) {
    it(`is said in words for ${code ?? "no code"}${said === "" ? "" : `, "${said}"`}`, () => {
      expect(networkWords(code, said)).to.match(words);
    });
  }
});
