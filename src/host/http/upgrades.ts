import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";

/**
 * Whether to accept an upgrade. Others are ignored, as RFC 9110 7.8 allows: Java's HttpClient and `curl --http2` offer h2c with every
 * request, and an upgraded request has no body.
 */
export const takesUpgrade = ({ method, headers: { upgrade } }: IncomingMessage): boolean =>
  method === "GET" && upgrade?.toLowerCase() === "websocket";

/** For Node before 22.21 and 24.9, without `shouldUpgradeCallback`: tells the parser before it reaches the body. */
export function ignoreOtherUpgrades(server: Server): void {
  if ("shouldUpgradeCallback" in server) return;
  server.on("connection", (socket: Socket & { parser?: Parser | null }) => {
    const { parser } = socket;
    const incoming = parser?.onIncoming;
    if (parser == null || incoming === undefined) return;
    parser.onIncoming = (request, keepAlive) => {
      if (request.upgrade && !takesUpgrade(request)) request.upgrade = false;
      return incoming(request, keepAlive);
    };
  });
}

interface Parser {
  onIncoming?: (request: IncomingMessage & { upgrade?: boolean }, keepAlive: boolean) => unknown;
}
