import { createSign } from 'node:crypto';
import { simulatorDuringTests } from '../simulator.testing';
import { KEY_FILE } from './service-account';

interface Reply {
  readonly status: number;
  readonly body: Record<string, unknown> & {
    readonly error?: { readonly errors: readonly { readonly reason: string }[] };
  };
}

// that it does what the driver asks for: the conformance suite
describe('Simulated Compute', () => {
  const simulator = simulatorDuringTests({ gcpOperationMs: 20 });
  let token: string;
  beforeAll(async () => {
    token = String((await askForToken({})).body['access_token']);
  });

  const part = (content: object): string => Buffer.from(JSON.stringify(content)).toString('base64url');
  const replyOf = async (response: Response): Promise<Reply> => ({
    status: response.status,
    body: (await response.json()) as Reply['body'],
  });

  async function askForToken(claims: object): Promise<Reply> {
    const now = Math.floor(Date.now() / 1000);
    const whole = {
      iss: KEY_FILE.client_email,
      aud: 'https://oauth2.googleapis.com/token',
      scope: 'https://www.googleapis.com/auth/compute',
      iat: now,
      exp: now + 3600,
      ...claims,
    };
    const text = `${part({ alg: 'RS256', typ: 'JWT' })}.${part(whole)}`;
    const seal = createSign('RSA-SHA256').update(text).sign(KEY_FILE.private_key).toString('base64url');
    const body = new URLSearchParams({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: `${text}.${seal}`,
    });
    return replyOf(await fetch(`${simulator.url}/gcp/token`, { method: 'POST', body }));
  }

  const ask = async (method: string, path: string, body?: object, bearer = token): Promise<Reply> =>
    replyOf(
      await fetch(`${simulator.url}/gcp/compute/v1/projects/simulated-project/global/${path}`, {
        method,
        headers: { authorization: `Bearer ${bearer}` },
        ...(body && { body: JSON.stringify(body) }),
      }),
    );
  const ended = async ({ body }: Reply): Promise<Reply> =>
    ask('POST', `operations/${String(body['name'])}/wait`);
  const rule = (more: object = {}): object => ({
    name: 'a-rule',
    network: 'global/networks/default',
    sourceRanges: ['203.0.113.7'],
    allowed: [{ IPProtocol: 'tcp', ports: ['22', '80-90'] }],
    ...more,
  });
  const reason = ({ status, body }: Reply): string => `${status} ${body.error?.errors[0]?.reason}`;
  const listOpen = async (): Promise<string[]> =>
    (await simulator.openRules('provider=GCP')).map(({ address }) => address);

  it('opens a rule without a source to everyone', async () => {
    await ended(await ask('POST', 'firewalls', rule({ sourceRanges: [] })));
    expect(await listOpen()).toEqual(['0.0.0.0/0', '0.0.0.0/0']);
  });

  it('opens a rule for service accounts or tags to no address', async () => {
    const accounts = { sourceServiceAccounts: ['web@simulated-project.iam.gserviceaccount.com'] };
    for (const sources of [accounts, { sourceTags: ['web'] }]) {
      await ended(await ask('POST', 'firewalls', rule({ sourceRanges: [], ...sources })));
      expect((await ask('GET', 'firewalls/a-rule')).body).toMatchObject(sources);
      expect(await listOpen()).toEqual([]);
      await ended(await ask('DELETE', 'firewalls/a-rule'));
    }
  });

  it('answers a repeated request id with the first operation', async () => {
    const path = 'firewalls?requestId=0b6ad20a-6f3c-4a24-9a0f-1c7a7d7b0a11';
    const first = await ask('POST', path, rule());
    expect((await ask('POST', path, rule())).body['name']).toBe(first.body['name']);
    expect(reason(await ask('POST', 'firewalls?requestId=1', rule()))).toBe('400 invalid');
    expect(reason(await ask('POST', 'firewalls', rule()))).toBe('409 alreadyExists');
  });

  it.each<[string, object]>([
    ['both families in one rule', { sourceRanges: ['203.0.113.7', '2001:db8::7'] }],
    ['a name with capitals', { name: 'A-Rule' }],
    ['a range that is none', { sourceRanges: ['203.0.113.300'] }],
    ['a port that is none', { allowed: [{ IPProtocol: 'tcp', ports: ['70000'] }] }],
    ['ports for ICMP', { allowed: [{ IPProtocol: 'icmp', ports: ['1'] }] }],
    ['a protocol that is none', { allowed: [{ IPProtocol: 'http' }] }],
    ['neither allowed nor denied', { allowed: [] }],
    ['a direction in lower case', { direction: 'ingress' }],
    ['a priority beyond the last', { priority: 65_536 }],
    ['a field it does not know', { sources: [] }],
    [
      'more than 256 ranges',
      { sourceRanges: Array.from({ length: 257 }, (_, index) => `10.0.${index >> 8}.${index & 255}`) },
    ],
  ])('refuses %s', async (_, more) => {
    expect((await ask('POST', 'firewalls', rule(more))).status).toBe(400);
    expect(await listOpen()).toEqual([]);
  });

  it('accepts only its own tokens, and issues them only for its service account', async () => {
    expect(reason(await ask('GET', 'firewalls', undefined, 'ya29.9999999999999.x'))).toBe('401 authError');
    for (const claims of [
      { iss: 'nobody@example.com' },
      { aud: simulator.url },
      { iat: 0, exp: 3600 },
      { scope: 'openid' },
    ]) {
      expect((await askForToken(claims)).status).toBe(400);
    }
  });
});
