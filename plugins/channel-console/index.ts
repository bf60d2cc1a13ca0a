import { type Channel, definePlugin } from "venturi/plugin";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "venturi/plugin/channel";
import { type Asset, readAssets } from "./assets.ts";
import { Options } from "./options.ts";

export default definePlugin({
  name: "channel-console",
  kind: "channel",
  description: "The console: a page to chat with agents, and to see, steer and question runs",
  options: Options,
  create: ({ path, traceUrl }): Channel<FastifyInstance> => ({
    mount({ server }) {
      const { page, files } = readAssets(path, { "trace-url": traceUrl ?? "" });
      // The files hold no secrets. Everything the page shows comes from the API, which requires the key.
      const route = { config: { open: true }, schema: { hide: true } };
      const sendPage = (request: FastifyRequest, reply: FastifyReply) =>
        send({ request, reply, asset: page }, pageHeaders);
      server.get(path, route, (_request, reply) => reply.redirect(`${path}/`));
      server.get(`${path}/*`, route, (request, reply) => {
        const name = (request.params as { "*": string })["*"]; // From the route's wildcard.
        const file = files.get(name);
        if (file !== undefined) return send({ request, reply, asset: file }, fileHeaders);
        // A missing file is not a page: paths of pages end with a dot only if an id does.
        if (/\.(?:js|css|map|png|svg|ico)$/.test(name)) return reply.callNotFound();
        return sendPage(request, reply);
      });
      if (!server.hasRoute({ method: "GET", url: "/" })) {
        server.get("/", route, (_request, reply) => reply.redirect(`${path}/`));
      }
    },
  }),
});

interface Sending {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly asset: Asset;
}

function send({ request, reply, asset }: Sending, headers: Readonly<Record<string, string>>): FastifyReply {
  const accepted = String(request.headers["accept-encoding"] ?? "");
  const encoding = (["br", "gzip"] as const).find((name) => asset[name] !== undefined && accepted.includes(name));
  reply.headers({ ...headers, "content-type": asset.type, vary: "accept-encoding" });
  if (encoding !== undefined) reply.header("content-encoding", encoding);
  return reply.send(encoding === undefined ? asset.plain : asset[encoding]);
}

/** File names contain a hash of their content. */
const fileHeaders = { "cache-control": "public, max-age=31536000, immutable" };

/** Trusted Types without any policy: a string cannot become markup or code, not even by mistake. The page is built from text nodes. */
const pageHeaders = {
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; "),
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy":
    "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), microphone=(), payment=(), usb=()",
};
