import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { checkServerIdentity, type PeerCertificate } from "node:tls";
import { VenturiError } from "venturi/plugin";
import { z } from "zod";
import type { ServerOptions } from "./servers.ts";

export const Tls = z.strictObject({
  ca: z.string().optional().describe("File with the certificates to trust, relative to the config."),
  cert: z.string().optional().describe("File with the client's certificate."),
  key: z.string().optional().describe("File with the client's key."),
  servername: z.string().optional().describe("The name its certificate must have, if not the host."),
  verify: z.boolean().prefault(true).describe("False accepts any certificate: for tests only."),
});

export async function readTls(
  tls: boolean | z.output<typeof Tls> | undefined,
  folder: string,
): Promise<ServerOptions["ssl"]> {
  if (tls === undefined || typeof tls === "boolean") return tls;
  const read = async (name: "ca" | "cert" | "key") => {
    const path = tls[name];
    return path === undefined ? {} : { [name]: await readFile(resolve(folder, path), "utf8") };
  };
  try {
    const files = { ...(await read("ca")), ...(await read("cert")), ...(await read("key")) };
    return { rejectUnauthorized: tls.verify, ...files, ...nameCheck(tls.servername) };
  } catch (cause) {
    throw new VenturiError("journal.open", "config_invalid", "a file named under journal.tls cannot be read", {
      cause,
    });
  }
}

/** pg always checks the host's name, so a configured name is compared here. */
const nameCheck = (name: string | undefined) =>
  name === undefined
    ? {}
    : { checkServerIdentity: (_host: string, certificate: PeerCertificate) => checkServerIdentity(name, certificate) };
