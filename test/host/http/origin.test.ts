import { expect } from "chai";
import { ServerSettings } from "../../../src/host/config/server.ts";
import { originCheck } from "../../../src/host/http/origin.ts";

type Settings = Parameters<typeof ServerSettings.parse>[0];
interface Asked {
  readonly host?: string;
  readonly origin?: string;
  readonly raw?: readonly string[];
}

/** The code that a request with these headers is refused with. */
const refusal = (settings: Settings, { host, origin, raw = [] }: Asked): string | undefined => {
  try {
    originCheck(ServerSettings.parse(settings))(
      { ...(host === undefined ? {} : { host }), ...(origin === undefined ? {} : { origin }) },
      raw,
    );
    return undefined;
  } catch (thrown) {
    const { op, code } = thrown as { op: string; code: string };
    return `${op} ${code}`;
  }
};
const forbidden = "server.admit forbidden";
const invalid = "server.admit invalid_input";

describe("Host and Origin of a request", () => {
  const local = { listen: "127.0.0.1:7070" };
  const open = { listen: "0.0.0.0:7070", auth: { keys: [{ id: "a", sha256: "0".repeat(64) }] } };

  it("on loopback the Host is a name of this machine, with any port and in any case", () => {
    for (const host of ["localhost", "LOCALHOST:7070", "127.0.0.1", "127.0.0.1:9", "[::1]:7070", "[::1]"])
      expect(refusal(local, { host }), host).to.equal(undefined);
    for (const host of ["evil.example", "localhost.evil.example", "evil.example:7070", "", "localhost:7070:1", "[::2]"])
      expect(refusal(local, { host }), host).to.equal(forbidden);
    expect(refusal({ listen: "127.0.0.9:7070" }, { host: "127.0.0.9:7070" }), "the one it listens on").to.equal(
      undefined,
    );
    expect(refusal(local, { host: "127.0.0.9" })).to.equal(forbidden);
  });

  it("elsewhere it is any, or one of those that the config lists", () => {
    expect(refusal(open, { host: "shop.example" })).to.equal(undefined);
    const listed = { ...open, hosts: ["Shop.example", "api.example:8443"] };
    expect(refusal(listed, { host: "SHOP.example" })).to.equal(undefined);
    expect(refusal(listed, { host: "shop.example:443" })).to.equal(undefined);
    expect(refusal(listed, { host: "api.example:8443" })).to.equal(undefined);
    expect(refusal(listed, { host: "api.example" })).to.equal(forbidden);
    expect(refusal(listed, { host: "localhost" })).to.equal(forbidden);
    expect(refusal({ ...local, hosts: ["shop.example"] }, { host: "localhost" })).to.equal(forbidden);
  });

  it("there is exactly one, however it is written", () => {
    expect(refusal(open, {})).to.equal(invalid);
    expect(refusal(open, { host: "a", raw: ["Host", "a", "X-Host", "host"] })).to.equal(undefined);
    expect(refusal(open, { host: "a", raw: ["host", "host"] }), "a value is no name").to.equal(undefined);
    expect(refusal(open, { host: "a", raw: ["Host", "a", "hOST", "b"] })).to.equal(invalid);
  });

  it("an Origin is this service itself, or listed", () => {
    const host = "localhost:7070";
    for (const origin of ["http://localhost:7070", "https://LOCALHOST:7070", undefined])
      expect(refusal(local, { host, ...(origin === undefined ? {} : { origin }) }), origin).to.equal(undefined);
    for (const origin of ["null", "", "http://localhost:7071", "http://localhost", "https://evil.example", "localhost"])
      expect(refusal(local, { host, origin }), origin).to.equal(forbidden);
    const shared = { ...local, cors: { origins: ["https://app.example"] } };
    expect(refusal(shared, { host, origin: "https://app.example" })).to.equal(undefined);
    expect(refusal(shared, { host, origin: "http://app.example" })).to.equal(forbidden);
    expect(refusal(shared, { host: "evil.example", origin: "https://app.example" })).to.equal(forbidden);
    const all = { ...local, cors: { origins: ["*"] } };
    expect(refusal(all, { host, origin: "https://evil.example" })).to.equal(undefined);
    expect(refusal(all, { host, origin: "null" })).to.equal(undefined);
  });
});
