import { expect } from "chai";
import { signed } from "../../../plugins/bedrock/sign.ts";

/** Of AWS's signature-v4-test-suite: the POST requests that sign host, date and token. */
const keys = { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" };
const token =
  "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA==";
const vectors = [
  ["post-vanilla", "/", undefined, "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"],
  [
    "post-vanilla-query",
    "/?Param1=value1",
    undefined,
    "28038455d6de14eafc1f9222cf5aa6f1a96197d7deb8263271d420d138af7f11",
  ],
  ["post-sts-header-before", "/", token, "85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"],
] as const;

const settings = { ...keys, region: "us-east-1", service: "service", datetime: "20150830T123600Z" };

describe("Signature Version 4", () => {
  for (const [name, path, sessionToken, signature] of vectors) {
    it(`gives the published signature of ${name}`, async () => {
      const url = `https://example.amazonaws.com${path}`;
      const headers = await signed({ url, body: [] }, { ...settings, ...(sessionToken && { sessionToken }) });
      const names = sessionToken === undefined ? "host;x-amz-date" : "host;x-amz-date;x-amz-security-token";
      expect(headers).to.deep.equal({
        authorization: `AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=${names}, Signature=${signature}`,
        "x-amz-date": "20150830T123600Z",
        ...(sessionToken && { "x-amz-security-token": sessionToken }),
      });
    });
  }

  it("covers every byte of the body, in however many pieces it comes", async () => {
    const sign = (...body: Buffer[]) => signed({ url: "https://example.amazonaws.com/", body }, settings);
    const whole = await sign(Buffer.from("abc"));
    expect(await sign(Buffer.from("a"), Buffer.from("bc"))).to.deep.equal(whole);
    expect(await sign(Buffer.from("abd"))).not.to.deep.equal(whole);
  });
});
