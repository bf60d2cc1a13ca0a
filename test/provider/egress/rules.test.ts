import { expect } from "chai";
import { VenturiError } from "../../../src/core/errors/errors.ts";
import { Egress } from "../../../src/provider/egress/egress.ts";

const isOpen = (hosts: readonly string[], url: string, allowPrivate: readonly string[] = []): boolean => {
  try {
    new Egress({ hosts, allowPrivate }).check(new URL(url));
    return true;
  } catch (thrown) {
    if (VenturiError.isInstance(thrown) && thrown.code === "tool_denied") return false;
    throw thrown;
  }
};

describe("the hosts that a tool may ask", () => {
  const cases: [string, string[], string[]][] = [
    [
      "api.example.com",
      ["https://api.example.com/x", "http://API.example.com"],
      ["https://example.com", "https://b.example.com", "https://pi.example.com", "https://x.api.example.com"],
    ],
    [
      "*.example.com",
      ["https://a.example.com", "https://a.b.example.com"],
      ["https://example.com", "https://.example.com", "https://aexample.com", "https://example.com.evil.test"],
    ],
    [
      "example.com:8443",
      ["https://example.com:8443"],
      ["https://example.com", "https://example.com:443", "http://example.com:84"],
    ],
    ["*.example.com:80", ["http://a.example.com"], ["https://a.example.com", "http://a.example.com:8080"]],
    ["example.com:443", ["https://example.com"], ["http://example.com"]],
    ["example.com", ["https://example.com:443"], ["https://example.com:444", "http://example.com:443"]],
  ];
  for (const [rule, open, closed] of cases) {
    it(`${rule}: these and no others`, () => {
      for (const url of open) expect(isOpen([rule], url), url).to.equal(true);
      for (const url of closed) if (URL.canParse(url)) expect(isOpen([rule], url), url).to.equal(false);
    });
  }

  it("are asked over HTTP alone, without a name and a password, and none when the list is empty", () => {
    for (const url of ["ftp://a.test/", "file:///etc/passwd", "https://u@a.test", "https://:p@a.test"])
      expect(isOpen(["a.test", "*."], url), url).to.equal(false);
    expect(isOpen([], "https://a.test")).to.equal(false);
  });

  it("are not private addresses, unless that very host and port is allowed", () => {
    for (const host of ["127.0.0.1", "[::1]", "10.0.0.1", "169.254.169.254"]) {
      expect(isOpen([`${host}:8080`], `http://${host}:8080/`), host).to.equal(false);
      expect(isOpen([`${host}:8080`], `http://${host}:8080/`, [`${host}:8081`]), host).to.equal(false);
      expect(isOpen([`${host}:8080`], `http://${host}:8080/`, [`${host}:8080`]), host).to.equal(true);
    }
    expect(isOpen(["93.184.216.34"], "http://93.184.216.34/")).to.equal(true);
  });
});
