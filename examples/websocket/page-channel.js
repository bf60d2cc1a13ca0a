import { readFileSync } from "node:fs";
import { definePlugin } from "venturi/plugin";
import { z } from "zod";

const files = {
  "/talk": ["page/index.html", "text/html; charset=utf-8"],
  "/talk/page.js": ["page/page.js", "text/javascript; charset=utf-8"],
  "/talk/page.css": ["page/page.css", "text/css; charset=utf-8"],
  "/conversation.js": ["conversation.js", "text/javascript; charset=utf-8"],
};
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'";

/** Serves the page beside the socket it talks to, so that both are of one origin. */
export default definePlugin({
  name: "page",
  kind: "channel",
  description: "A page to talk to an agent",
  options: z.strictObject({}),
  create: () => ({
    mount({ server }) {
      for (const [path, [file, type]] of Object.entries(files)) {
        const body = readFileSync(new URL(file, import.meta.url), "utf8");
        // The files hold no secrets; the socket asks for the key.
        server.get(path, { config: { open: true }, schema: { hide: true } }, (_request, reply) =>
          reply.headers({ "content-type": type, "content-security-policy": policy }).send(body),
        );
      }
    },
  }),
});
