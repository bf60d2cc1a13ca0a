import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { Credentials } from "../../../plugins/bedrock/credentials/credentials.ts";
import { regionOf } from "../../../plugins/bedrock/credentials/region.ts";
import { failure } from "../vendor.ts";

const region = "eu-west-1";
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

describe("AWS credentials", () => {
  const folder = mkdtempSync(join(tmpdir(), "venturi-aws-"));
  const before_ = { ...process.env };
  let server: Server;
  let url: string;
  let asked: { line: string; headers: IncomingMessage["headers"]; body: string }[];
  let answer: (line: string) => { status?: number; body: string };

  before(async () => {
    server = createServer(async (request, response) => {
      let body = "";
      for await (const piece of request) body += piece;
      const line = `${request.method} ${request.url}`;
      asked.push({ line, headers: request.headers, body });
      const { status = 200, body: text } = answer(line);
      response.writeHead(status).end(text);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // it listens on a port
  });
  beforeEach(() => {
    asked = [];
    answer = () => ({ status: 404, body: "" });
    for (const name of Object.keys(process.env)) if (name.startsWith("AWS_")) delete process.env[name];
    Object.assign(process.env, {
      AWS_SHARED_CREDENTIALS_FILE: join(folder, "credentials"),
      AWS_CONFIG_FILE: join(folder, "config"),
      AWS_EC2_METADATA_SERVICE_ENDPOINT: url,
    });
    writeFileSync(join(folder, "credentials"), "");
    writeFileSync(join(folder, "config"), "");
  });
  after(() => {
    for (const name of Object.keys(process.env)) if (name.startsWith("AWS_")) delete process.env[name];
    Object.assign(process.env, before_);
    rmSync(folder, { recursive: true });
    server.close();
    server.closeAllConnections();
  });

  const found = (more: object = {}) => new Credentials({ region, ...more }).get();

  it("are those of the options first, then of the environment", async () => {
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: "ENV", AWS_SECRET_ACCESS_KEY: "s", AWS_SESSION_TOKEN: "t" });
    expect(await found({ credentials: { accessKeyId: "OPT", secretAccessKey: "o" } })).to.include({
      accessKeyId: "OPT",
    });
    expect(await found()).to.deep.equal({ accessKeyId: "ENV", secretAccessKey: "s", sessionToken: "t" });
    expect(asked).to.deep.equal([]);
  });

  it("are those of the profile, which wins over the environment when it was named", async () => {
    writeFileSync(
      join(folder, "credentials"),
      "# mine\n[default]\naws_access_key_id = DEF\naws_secret_access_key=d=e\n\n[ work ]\r\naws_access_key_id = WORK\r\naws_secret_access_key = w\r\naws_session_token = t\r\n",
    );
    writeFileSync(join(folder, "config"), "[profile work]\nregion = eu-north-1\ns3 =\n  region = nested\n");
    expect(await found()).to.deep.equal({ accessKeyId: "DEF", secretAccessKey: "d=e" });
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: "ENV", AWS_SECRET_ACCESS_KEY: "s" });
    expect(await found({ profile: "work" })).to.deep.equal({
      accessKeyId: "WORK",
      secretAccessKey: "w",
      sessionToken: "t",
    });
    expect(await regionOf({ profile: "work" })).to.equal("eu-north-1");
    const error = await failure(() => found({ profile: "wrok" }));
    expect(error.code).to.equal("unauthorized");
    expect(error.message).to.include('"wrok"');
  });

  it("are exchanged for the token of a web identity, which is read again each time", async () => {
    const file = join(folder, "token");
    writeFileSync(file, "jwt-1\n");
    Object.assign(process.env, {
      AWS_ROLE_ARN: "arn:aws:iam::1:role/r",
      AWS_WEB_IDENTITY_TOKEN_FILE: file,
      AWS_ENDPOINT_URL_STS: url,
    });
    answer = () => ({
      body: `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>WEB</AccessKeyId><SecretAccessKey>w</SecretAccessKey><SessionToken>t</SessionToken><Expiration>${inAnHour()}</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
    });
    const credentials = new Credentials({ region });
    const [first, second] = await Promise.all([credentials.get(), credentials.get()]);
    expect(first).to.include({ accessKeyId: "WEB", sessionToken: "t" }).and.equal(second);
    expect(asked).to.have.length(1);
    expect(Object.fromEntries(new URLSearchParams(asked[0]?.body))).to.include({
      Action: "AssumeRoleWithWebIdentity",
      RoleArn: "arn:aws:iam::1:role/r",
      WebIdentityToken: "jwt-1",
    });
    await credentials.get();
    expect(asked).to.have.length(1);
    credentials.forget();
    writeFileSync(file, "jwt-2");
    await credentials.get();
    expect(new URLSearchParams(asked[1]?.body).get("WebIdentityToken")).to.equal("jwt-2");
    answer = () => ({ status: 403, body: "<ErrorResponse><Error><Code>AccessDenied</Code></Error></ErrorResponse>" });
    expect((await failure(() => found())).message).to.equal("STS gives no credentials (403 AccessDenied)");
  });

  it("are a container's, with its token, but of no host elsewhere in clear", async () => {
    writeFileSync(join(folder, "pod"), "pod-token\n");
    Object.assign(process.env, {
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}/v1/credentials`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: join(folder, "pod"),
    });
    answer = () => ({
      body: JSON.stringify({ AccessKeyId: "POD", SecretAccessKey: "p", Token: "t", Expiration: inAnHour() }),
    });
    expect(await found()).to.include({ accessKeyId: "POD", secretAccessKey: "p", sessionToken: "t" });
    expect(asked[0]?.headers.authorization).to.equal("pod-token");
    process.env.AWS_CONTAINER_CREDENTIALS_FULL_URI = "http://example.com/steal";
    expect((await failure(() => found())).message).to.include("neither https");
  });

  it("are the machine's, by a session token", async () => {
    answer = (line) => {
      if (line === "PUT /latest/api/token") return { body: "session-1" };
      if (line.endsWith("/security-credentials/")) return { body: "my-role\n" };
      return {
        body: JSON.stringify({
          Code: "Success",
          AccessKeyId: "EC2",
          SecretAccessKey: "e",
          Token: "t",
          Expiration: inAnHour(),
        }),
      };
    };
    expect(await found()).to.include({ accessKeyId: "EC2" });
    expect(asked.map(({ line }) => line)).to.deep.equal([
      "PUT /latest/api/token",
      "GET /latest/meta-data/iam/security-credentials/",
      "GET /latest/meta-data/iam/security-credentials/my-role",
    ]);
    expect(asked[1]?.headers["x-aws-ec2-metadata-token"]).to.equal("session-1");
    process.env.AWS_EC2_METADATA_DISABLED = "true";
    expect((await failure(() => found())).code).to.equal("unauthorized");
    expect(asked).to.have.length(3);
  });

  it("are renewed before they end, and used on while their service is down", async () => {
    let expires = Date.now() + 60_000; // within the five minutes in which they are renewed
    let status = 200;
    process.env.AWS_CONTAINER_CREDENTIALS_FULL_URI = url;
    answer = () => ({
      status,
      body: JSON.stringify({
        AccessKeyId: `K${asked.length}`,
        SecretAccessKey: "s",
        Expiration: new Date(expires).toISOString(),
      }),
    });
    const credentials = new Credentials({ region });
    expect((await credentials.get()).accessKeyId).to.equal("K1");
    status = 500;
    expect((await credentials.get()).accessKeyId).to.equal("K1");
    status = 200;
    expires = Date.now() + 3_600_000;
    expect((await credentials.get()).accessKeyId).to.equal("K3");
    expect((await credentials.get()).accessKeyId).to.equal("K3");
  });

  it("without a region are no use, and the error says what to set", async () => {
    expect(await regionOf({ baseUrl: "https://bedrock-runtime.us-west-2.amazonaws.com" })).to.equal("us-west-2");
    const error = await failure(() => regionOf({}));
    expect(error.code).to.equal("config_invalid");
    expect(error.message).to.include("AWS_REGION");
  });
});
