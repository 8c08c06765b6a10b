import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as oidc from 'openid-client';
import { startSimulator, type RunningSimulator } from '../../apps/simulator/src/start-simulator';
import { IssuerVisitor } from '../harness/issuers/issuer-visitor';
import { until } from '../harness/until';

const SCOPE = 'openid email profile groups offline_access';
const DEVELOPER = 'simulated-developer';

describe('The simulated identity provider', () => {
  let folder: string;
  let stateFile: string;
  let simulator: RunningSimulator;
  let issuer: oidc.Configuration;
  /** what the issuer sends people back to */
  let application: Server;
  let callback: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'drawbridge-issuer-'));
    stateFile = join(folder, 'clouds.json');
    simulator = await startSimulator({ stateFile });
    application = createServer((_, response) => response.end('back'));
    await new Promise<void>((done) => application.listen(0, '127.0.0.1', done));
    callback = `http://127.0.0.1:${(application.address() as AddressInfo).port}/api/v1/auth/sso/demo/callback`;
    const { clientId, clientSecret, ...described } = await control<Record<string, string>>('GET', '/_issuer');
    issuer = await oidc.discovery(new URL(described['issuer']!), clientId!, clientSecret, undefined, {
      execute: [oidc.allowInsecureRequests, oidc.enableNonRepudiationChecks],
    });
  });
  afterAll(async () => {
    await simulator.close();
    application.close();
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => control('POST', '/_reset'));

  async function control<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await fetch(`${simulator.url}${path}`, {
      method,
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(response.status).toBe(200);
    return (await response.json()) as T;
  }

  const pkceCodeVerifier = oidc.randomPKCECodeVerifier();

  const authorizationUrl = async (more: Record<string, string> = {}): Promise<URL> =>
    oidc.buildAuthorizationUrl(issuer, {
      redirect_uri: callback,
      scope: SCOPE,
      prompt: 'consent',
      code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
      ...more,
    });

  const signIn = async (form: Readonly<Record<string, string>>) => {
    const { url } = await new IssuerVisitor().visit(await authorizationUrl(), form);
    return oidc.authorizationCodeGrant(issuer, url, { pkceCodeVerifier });
  };

  it('signs in whom one clicks on, with groups and a verified address', async () => {
    expect((await signIn({ person: DEVELOPER })).claims()).toMatchObject({
      sub: DEVELOPER,
      email: 'developer@demo.example',
      email_verified: true,
      groups: ['developers'],
      amr: ['pwd'],
    });
    const guest = await signIn({ person: 'simulated-guest', secondFactor: 'on' });
    expect(guest.claims()).toMatchObject({ groups: [], amr: ['pwd', 'mfa'] });
  });

  it('asks each time, also the same browser', async () => {
    const visitor = new IssuerVisitor();
    for (const person of [DEVELOPER, 'simulated-guest']) {
      const { url } = await visitor.visit(await authorizationUrl(), { person });
      const tokens = await oidc.authorizationCodeGrant(issuer, url, { pkceCodeVerifier });
      expect(tokens.claims()?.sub).toBe(person);
    }
  });

  it('changed groups come with the next refresh, and a disabled person gets none and cannot sign in', async () => {
    const { refresh_token: token } = await signIn({ person: DEVELOPER });
    await control('PUT', '/_people', { subject: DEVELOPER, groups: ['others'] });
    const refreshed = await oidc.refreshTokenGrant(issuer, token!);
    expect(refreshed.claims()).toMatchObject({ groups: ['others'] });
    await control('PUT', '/_people', { subject: DEVELOPER, isDisabled: true });
    await expect(oidc.refreshTokenGrant(issuer, token!)).rejects.toMatchObject({ error: 'invalid_grant' });
    await expect(signIn({ person: DEVELOPER })).rejects.toMatchObject({ error: 'access_denied' });
  });

  it('while it is down nothing is answered, and afterwards and after a restart sign-ins go on', async () => {
    const { refresh_token: token } = await signIn({ person: DEVELOPER });
    await control('PUT', '/_issuer', { isDown: true });
    await expect(oidc.refreshTokenGrant(issuer, token!)).rejects.toMatchObject({ cause: { status: 503 } });
    const { port } = simulator;
    await simulator.close();
    simulator = await startSimulator({ stateFile, port });
    // a connection of before the restart may be tried first
    const refreshed = await until('a refresh succeeds', () =>
      oidc.refreshTokenGrant(issuer, token!).catch((error: unknown) => {
        if (error instanceof oidc.ClientError || error instanceof TypeError) return false as const;
        throw error;
      }),
    );
    expect(refreshed.claims()?.sub).toBe(DEVELOPER);
  });

  it.each([
    ['another redirect URI', { redirect_uri: 'http://127.0.0.1:9/elsewhere' }, /redirect_uri/],
    ['another client', { client_id: 'other' }, /client/],
  ])('%s is refused on its own page', async (_, parameters, words) => {
    const { url, page } = await new IssuerVisitor().visit(await authorizationUrl(parameters), {});
    expect([url.host, page]).toEqual([new URL(simulator.url).host, expect.stringMatching(words)]);
  });
});
