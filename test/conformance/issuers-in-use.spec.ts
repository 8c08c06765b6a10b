import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MANNERS, REFUSALS, type MannerName, type Refusal } from '../../apps/simulator/src/issuer/manners';
import { startSimulator, type RunningSimulator } from '../../apps/simulator/src/start-simulator';
import { type IssuerClient, IssuerClients, IssuerFailure, type IssuerFailureKind } from '#sso';
import { LOCAL } from '../builders/sso/vouched-person';
import { IssuerVisitor } from '../harness/issuers/issuer-visitor';
import { until } from '../harness/until';

const PERSON = 'simulated-developer';
const SECRETS = { state: 'state', nonce: 'nonce', codeVerifier: 'x'.repeat(43) };

/** What each refusal means here. Without distinction it is a leaver. */
const MEANINGS: Readonly<Record<MannerName, Readonly<Record<Refusal, IssuerFailureKind>>>> = {
  'oidc-provider': { 'session-over': 'refused', disabled: 'refused', 'used-before': 'refused' },
  'entra-id': { 'session-over': 'session-over', disabled: 'refused', 'used-before': 'refused' },
  okta: { 'session-over': 'refused', disabled: 'refused', 'used-before': 'refused' },
  google: { 'session-over': 'session-over', disabled: 'refused', 'used-before': 'refused' },
  keycloak: { 'session-over': 'session-over', disabled: 'refused', 'used-before': 'used-before' },
  auth0: { 'session-over': 'refused', disabled: 'refused', 'used-before': 'refused' },
  zitadel: { 'session-over': 'session-over', disabled: 'refused', 'used-before': 'session-over' },
  authentik: { 'session-over': 'refused', disabled: 'refused', 'used-before': 'refused' },
  'ad-fs': { 'session-over': 'session-over', disabled: 'refused', 'used-before': 'refused' },
};

describe.each(Object.keys(MANNERS) as MannerName[])('An issuer that answers like %s', (actsAs) => {
  let simulator: RunningSimulator;
  let folder: string;
  let application: Server;
  let callback: string;
  let client: IssuerClient;

  const control = async (path: string, body?: object): Promise<Record<string, string>> => {
    const method = body === undefined ? 'POST' : 'PUT';
    const response = await fetch(`${simulator.url}${path}`, {
      method,
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(response.status).toBe(200);
    return (await response.json()) as Record<string, string>;
  };
  const signIn = async (): ReturnType<IssuerClient['redeem']> => {
    const start = await client.authorizationUrl(callback, SECRETS);
    const { url } = await new IssuerVisitor().visit(start, { person: PERSON });
    return client.redeem(callback, url.searchParams, SECRETS);
  };
  /** The kind of failure; `null`: it vouches for the person in these groups, and has given `kept` */
  async function refresh(
    token: string,
  ): Promise<{ kind: string | null; kept: string | null; groups?: readonly string[] | null }> {
    let kept: string | null = null;
    try {
      const { groups } = await client.refresh(token, PERSON, async (newToken) => {
        kept = newToken;
      });
      return { kind: null, kept, groups };
    } catch (error) {
      if (error instanceof IssuerFailure) return { kind: error.kind, kept };
      throw error;
    }
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'drawbridge-issuer-'));
    simulator = await startSimulator({ stateFile: join(folder, 'clouds.json') });
    application = createServer((_, response) => response.end('back'));
    await new Promise<void>((done) => application.listen(0, '127.0.0.1', done));
    callback = `http://127.0.0.1:${(application.address() as AddressInfo).port}/api/v1/auth/sso/demo/callback`;
  });
  afterAll(async () => {
    await simulator.close();
    application.close();
    rmSync(folder, { recursive: true });
  });
  beforeEach(async () => {
    await control('/_reset');
    const { issuer, clientId, clientSecret, groupsClaim } = await control('/_issuer', { actsAs });
    client = await new IssuerClients(LOCAL).of({
      issuer: issuer!,
      clientId: clientId!,
      clientSecret: clientSecret!,
      groupsClaim: groupsClaim!,
    });
  });

  it('names groups that are read, and none where there are none', async () => {
    const groups = actsAs === 'google' ? [] : ['developers'];
    const { claims, refreshToken } = await signIn();
    expect(claims).toMatchObject({ groups, problem: null });
    await control('/_people', { subject: PERSON, groups: [] });
    expect(await refresh(refreshToken!)).toMatchObject({ kind: null, groups: [] });
    expect((await signIn()).claims).toMatchObject({ groups: [], problem: null });
  });

  it('gives a new refresh token each time, which is kept, and refuses the former one', async () => {
    const { refreshToken } = await signIn();
    const { kind, kept } = await refresh(refreshToken!);
    expect([kind, kept === refreshToken]).toEqual([null, false]);
    expect((await refresh(kept!)).kind).toBe(null);
    expect((await refresh(refreshToken!)).kind).toBe(MEANINGS[actsAs]['used-before']);
  });

  it.each(REFUSALS)('and refuses as %s until the person signs in again', async (refusal) => {
    const { refreshToken } = await signIn();
    await control('/_people', {
      subject: PERSON,
      ...(refusal === 'disabled' ? { isDisabled: true } : { refusal }),
    });
    expect(await refresh(refreshToken!)).toEqual({ kind: MEANINGS[actsAs][refusal], kept: null });
    await control('/_people', { subject: PERSON, isDisabled: false });
    const again = await signIn();
    expect((await refresh(again.refreshToken!)).kind).toBe(null);
  });

  it('vouches for nobody while it is down, and goes on after a restart', async () => {
    const { refreshToken } = await signIn();
    await control('/_issuer', { isDown: true });
    expect((await refresh(refreshToken!)).kind).toBe('unreachable');
    const { port } = simulator;
    await simulator.close();
    simulator = await startSimulator({ stateFile: join(folder, 'clouds.json'), port });
    // a connection of before the restart may be tried first
    await until('it vouches again', async () => (await refresh(refreshToken!)).kind === null);
  });
});
