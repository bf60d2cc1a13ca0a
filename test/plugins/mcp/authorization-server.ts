import { createHash, randomUUID } from "node:crypto";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { serveFetch } from "./http-server.ts";

/** How it misbehaves. */
export interface Faults {
  /** `iss` of its redirects, in place of its own. */
  iss?: string;
  challengeMethods?: string[];
  /** What the server says that it is, in place of its address. */
  resource?: string;
  /** Audience of the tokens, whatever was asked for. */
  audience?: string;
}

interface Grant {
  readonly client: string;
  readonly challenge: string;
  readonly resource: string;
  readonly user: string;
  readonly scope: string;
}

/** An authorization server and an MCP server that demands its tokens, on loopback, each at a port of its own. */
export async function startProtected(faults: Faults = {}) {
  const codes = new Map<string, Grant>();
  const refreshTokens = new Map<string, Grant>();
  const accessTokens = new Map<string, { readonly user: string; readonly audience: string; readonly scope: string }>();
  const spent = new Set<string>();
  const seen: string[] = [];
  let user = "ann";
  let tokenRequests = 0;

  const issue = (grant: Grant) => {
    const access = `access-${randomUUID()}`;
    const refresh = `refresh-${randomUUID()}`;
    accessTokens.set(access, { ...grant, audience: faults.audience ?? grant.resource });
    refreshTokens.set(refresh, grant);
    return {
      access_token: access,
      token_type: "Bearer",
      expires_in: 3_600,
      refresh_token: refresh,
      scope: grant.scope,
    };
  };
  const refused = (error: string) => Response.json({ error }, { status: 400 });

  const token = async (request: Request): Promise<Response> => {
    tokenRequests++;
    const form = new URLSearchParams(await request.text());
    if (form.get("grant_type") === "refresh_token") {
      const old = form.get("refresh_token") ?? "";
      const grant = refreshTokens.get(old);
      refreshTokens.delete(old); // rotated: each works once
      if (grant === undefined || spent.has(old)) return refused("invalid_grant");
      spent.add(old);
      return Response.json(issue(grant));
    }
    const code = form.get("code") ?? "";
    const grant = codes.get(code);
    codes.delete(code);
    const verifier = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url");
    if (grant === undefined || verifier !== grant.challenge) return refused("invalid_grant");
    if (form.get("resource") !== grant.resource) return refused("invalid_target");
    return Response.json(issue(grant));
  };

  const issuer = await serveFetch(async (request) => {
    const url = new URL(request.url);
    seen.push(`${request.method} ${url.pathname}`);
    if (url.pathname === "/.well-known/oauth-authorization-server") {
      return Response.json({
        issuer: issuer.url,
        authorization_endpoint: `${issuer.url}/authorize`,
        token_endpoint: `${issuer.url}/token`,
        registration_endpoint: `${issuer.url}/register`,
        response_types_supported: ["code"],
        grant_types_supported: ["authorization_code", "refresh_token"],
        code_challenge_methods_supported: faults.challengeMethods ?? ["S256"],
        token_endpoint_auth_methods_supported: ["none"],
        authorization_response_iss_parameter_supported: true,
      });
    }
    if (url.pathname === "/register") {
      return Response.json({ ...((await request.json()) as object), client_id: randomUUID() }, { status: 201 });
    }
    if (url.pathname === "/authorize") {
      const asked = url.searchParams;
      if (asked.get("code_challenge_method") !== "S256") return refused("invalid_request");
      const code = randomUUID();
      codes.set(code, {
        client: asked.get("client_id") ?? "",
        challenge: asked.get("code_challenge") ?? "",
        resource: asked.get("resource") ?? "",
        scope: asked.get("scope") ?? "",
        user,
      });
      const back = new URL(asked.get("redirect_uri") ?? "");
      back.search = `${new URLSearchParams({ code, state: asked.get("state") ?? "", iss: faults.iss ?? issuer.url })}`;
      return new Response(null, { status: 302, headers: { location: back.href } });
    }
    return url.pathname === "/token" ? await token(request) : new Response("", { status: 404 });
  });

  const handlers = new Map<string, ReturnType<typeof createMcpHandler>>();
  const handlerOf = (name: string) => {
    const known = handlers.get(name);
    if (known !== undefined) return known;
    const made = createMcpHandler(() => {
      const server = new McpServer({ name: "protected", version: "1" });
      const text = { content: [{ type: "text" as const, text: `you are ${name}` }] };
      server.registerTool("whoami", { description: "Who asks" }, () => text);
      server.registerTool("admin", { description: "Needs the scope admin" }, () => text);
      return server;
    });
    handlers.set(name, made);
    return made;
  };
  const resource = await serveFetch(async (request) => {
    const url = new URL(request.url);
    if (url.pathname.startsWith("/.well-known/oauth-protected-resource")) {
      return Response.json({
        resource: faults.resource ?? `${resource.url}/mcp`,
        authorization_servers: [issuer.url],
        scopes_supported: ["read"],
      });
    }
    const metadata = `resource_metadata="${resource.url}/.well-known/oauth-protected-resource/mcp"`;
    const bearer = (request.headers.get("authorization") ?? "").replace(/^Bearer /, "");
    const held = accessTokens.get(bearer);
    if (held === undefined || held.audience !== `${resource.url}/mcp`) {
      return new Response("", {
        status: 401,
        headers: { "www-authenticate": `Bearer error="invalid_token", ${metadata}` },
      });
    }
    const body = await request.clone().text();
    if (body.includes('"admin"') && body.includes("tools/call") && !held.scope.includes("admin")) {
      const challenge = `Bearer error="insufficient_scope", scope="read admin", ${metadata}`;
      return new Response("", { status: 403, headers: { "www-authenticate": challenge } });
    }
    return await handlerOf(held.user).fetch(request);
  });

  return {
    url: `${resource.url}/mcp`,
    issuer: issuer.url,
    hosts: [resource, issuer].map(({ url }) => new URL(url).host),
    seen,
    get tokenRequests() {
      return tokenRequests;
    },
    /** Who sits before the browser. */
    signedInAs(name: string) {
      user = name;
    },
    expireAccess: () => accessTokens.clear(),
    revoke() {
      accessTokens.clear();
      refreshTokens.clear();
    },
    tokens: () => [...accessTokens.keys(), ...refreshTokens.keys()],
    async close() {
      for (const handler of handlers.values()) await handler.close();
      await resource.close();
      await issuer.close();
    },
  };
}
