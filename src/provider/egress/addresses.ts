import { BlockList, isIP } from "node:net";

/** Classification of an address: public, a private network, or forbidden to tools. */
export type Place = "public" | "private" | "forbidden";

/** Loopback, RFC 1918, carrier-grade NAT, unique local: can be allowed by the config. */
const privateRanges = [
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "172.16.0.0/12",
  "192.168.0.0/16",
  "::1/128",
  "fc00::/7",
];

/**
 * This host, link-local (cloud metadata services), documentation, benchmarks, multicast, reserved; in IPv6 also ranges that
 * embed an IPv4 address, which would bypass the IPv4 rules.
 */
const forbiddenRanges = [
  "0.0.0.0/8",
  "169.254.0.0/16",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "3fff::/20",
];
const globalIpv6 = rangesOf(["2000::/3"]);
const privates = rangesOf(privateRanges);
const forbidden = rangesOf(forbiddenRanges);

export function placeOf(address: string): Place {
  const zone = address.indexOf("%");
  const plain = (zone < 0 ? address : address.slice(0, zone)).toLowerCase();
  const mapped = /^::ffff:(?:0:)?(\d+\.\d+\.\d+\.\d+)$/.exec(plain)?.[1];
  if (mapped !== undefined) return placeOf(mapped);
  const family = isIP(plain);
  if (family === 0) return "forbidden";
  const kind = family === 4 ? "ipv4" : "ipv6";
  if (privates.check(plain, kind)) return "private";
  if (forbidden.check(plain, kind)) return "forbidden";
  return family === 4 || globalIpv6.check(plain, kind) ? "public" : "forbidden";
}

function rangesOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network = "", bits = ""] = range.split("/");
    list.addSubnet(network, Number(bits), network.includes(":") ? "ipv6" : "ipv4");
  }
  return list;
}
