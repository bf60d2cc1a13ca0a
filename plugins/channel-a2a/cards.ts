import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { FlattenedSign } from "jose";
import type { JsonObject } from "venturi/internal";
import { type AgentInfo, VenturiError } from "venturi/plugin";
import type { Options } from "./options.ts";

interface Place {
  readonly base: string;
  /** Whether calling the agent requires a key. */
  readonly isLocked: boolean;
}

/** The agents' cards, signed if there is a key. */
export class Cards {
  readonly #options: Options;
  readonly #key: KeyObject | undefined;
  readonly jwks: JsonObject;

  private constructor(options: Options, key: KeyObject | undefined) {
    this.#options = options;
    this.#key = key;
    const { signing } = options;
    const own =
      key === undefined || signing === undefined
        ? []
        : [{ ...createPublicKey(key).export({ format: "jwk" }), kid: signing.kid, alg: algorithmOf(key), use: "sig" }];
    this.jwks = { keys: own };
  }

  static async open(options: Options): Promise<Cards> {
    return new Cards(options, options.signing === undefined ? undefined : privateKey(options.signing.key));
  }

  async of(agent: AgentInfo, { base, isLocked }: Place): Promise<JsonObject> {
    const { prefix, provider, webhook } = this.#options;
    const root = `${base.replace(/\/+$/, "")}${prefix}`;
    const description = agent.description ?? `The agent ${agent.name}`;
    const card = {
      name: agent.name,
      description,
      supportedInterfaces: [
        { url: `${root}/${encodeURIComponent(agent.name)}`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      ],
      ...(provider === undefined ? {} : { provider }),
      version: agent.revision ?? "1",
      capabilities: { streaming: true, ...(webhook === undefined ? {} : { pushNotifications: true }) },
      ...(isLocked
        ? {
            securitySchemes: { key: { httpAuthSecurityScheme: { scheme: "Bearer" } } },
            securityRequirements: [{ schemes: { key: {} } }],
          }
        : {}),
      defaultInputModes: ["text/plain", "application/json", "image/*", "application/*"],
      defaultOutputModes: ["text/plain", "application/json"],
      skills: [{ id: agent.name, name: agent.name, description, tags: ["agent"] }],
    };
    return this.#key === undefined ? card : { ...card, signatures: [await this.#sign(this.#key, card, root)] };
  }

  /** A JSON Web Signature over the card's canonical form (RFC 8785) without empty fields. */
  async #sign(key: KeyObject, card: JsonObject, root: string): Promise<JsonObject> {
    const kid = this.#options.signing?.kid ?? "";
    const header = { alg: algorithmOf(key), typ: "JOSE", kid, jku: `${root}/jwks.json` };
    const bytes = new TextEncoder().encode(canonical(withoutEmpty(card)));
    const { protected: head, signature } = await new FlattenedSign(bytes).setProtectedHeader(header).sign(key);
    return { protected: head, signature };
  }
}

function privateKey(text: string): KeyObject {
  try {
    return text.trimStart().startsWith("{")
      ? createPrivateKey({ key: JSON.parse(text), format: "jwk" })
      : createPrivateKey(text);
  } catch {
    throw new VenturiError("a2a.signing", "config_invalid", "signing.key is no private key in PEM or JWK");
  }
}

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): string {
  if (asymmetricKeyType === "ed25519") return "EdDSA";
  if (asymmetricKeyType === "rsa") return "RS256";
  if (asymmetricKeyType === "ec" && asymmetricKeyDetails?.namedCurve === "prime256v1") return "ES256";
  throw new VenturiError(
    "a2a.signing",
    "config_invalid",
    "signing.key is of a kind that cards are not signed with: use P-256, RSA or Ed25519",
  );
}

function withoutEmpty(value: unknown): unknown {
  if (value === "" || value === null || value === undefined) return undefined;
  if (Array.isArray(value)) {
    const kept = value.map(withoutEmpty).filter((each) => each !== undefined);
    return kept.length === 0 ? undefined : kept;
  }
  if (typeof value !== "object") return value;
  const kept = Object.entries(value)
    .map(([name, each]) => [name, withoutEmpty(each)] as const)
    .filter(([, each]) => each !== undefined);
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const fields = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${fields.map(([name, each]) => `${JSON.stringify(name)}:${canonical(each)}`).join(",")}}`;
}
