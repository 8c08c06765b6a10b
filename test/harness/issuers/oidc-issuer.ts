import type { IncomingMessage, ServerResponse } from 'node:http';
import { CompactSign, exportJWK, generateKeyPair, type CryptoKey, type JWK } from 'jose';
import { LoopbackServer } from '../network/loopback-server';

/** A signing key of an issuer. */
export interface IssuerKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

type Json = Readonly<Record<string, unknown>>;

/** How an issuer serves its documents. */
export type Behaviour = 'well' | 'down' | 'redirect' | 'long' | 'slow' | 'other-name' | 'not-json';

export async function newKey(alg: string, kid: string): Promise<IssuerKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}

/** An OpenID Connect issuer on this machine: a discovery document, a key set, and tokens signed with its keys. */
export class OidcIssuer extends LoopbackServer {
  behaviour: Behaviour = 'well';
  /** paths of the requests it has had */
  readonly requests: string[] = [];
  keys: IssuerKey[] = [];

  /** With a key for each algorithm; their ids are `rsa`, `ec` and `ed`. */
  static async start(): Promise<OidcIssuer> {
    const issuer = new OidcIssuer();
    issuer.keys = await Promise.all([newKey('RS256', 'rsa'), newKey('ES256', 'ec'), newKey('EdDSA', 'ed')]);
    return issuer.listen();
  }

  key(kid: string): IssuerKey {
    return this.keys.find((key) => key.kid === kid)!;
  }

  /** @param header overrides parameters; undefined removes one */
  sign(claims: Json | string, header: Json = {}, key = this.keys[0]!): Promise<string> {
    return signed(claims, { alg: key.alg, kid: key.kid, typ: 'JWT', ...header }, key.privateKey);
  }

  protected serve({ url: path = '' }: IncomingMessage, response: ServerResponse): void {
    this.requests.push(path);
    const discovery = path === '/.well-known/openid-configuration';
    const body = discovery
      ? { issuer: this.behaviour === 'other-name' ? `${this.url}/` : this.url, jwks_uri: `${this.url}/keys` }
      : { keys: this.keys.map(({ publicJwk }) => publicJwk) };
    if (this.behaviour === 'down') response.writeHead(503).end();
    else if (this.behaviour === 'slow') return;
    else if (this.behaviour === 'redirect' && !path.startsWith('/moved'))
      response.writeHead(302, { Location: `/moved${path}` }).end();
    else if (this.behaviour === 'not-json') response.end('<html></html>');
    else if (this.behaviour === 'long') response.end(JSON.stringify({ ...body, filler: 'x'.repeat(70_000) }));
    else response.setHeader('Content-Type', 'application/json').end(JSON.stringify(body));
  }
}

/** A token in compact form. @param claims a text is signed as it is */
const signed = (claims: Json | string, header: Json, key: CryptoKey): Promise<string> =>
  new CompactSign(new TextEncoder().encode(typeof claims === 'string' ? claims : JSON.stringify(claims)))
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- tests sign headers that the type forbids
    .setProtectedHeader(header as { alg: string })
    .sign(key);
