import { randomUUID } from 'node:crypto';
import {
  everyCredential,
  OWN_KEYS,
  SIMULATED_ROLE,
  type CredentialBody,
} from '../../builders/resources/credentials';
import { group, ownOrganization, SIMULATED_KEY } from '../../builders/accounts/organization';
import type { Answer, Credential } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';
import { containing, matching } from '../../harness/matching';

interface Refusal {
  readonly error: string;
  readonly message: string;
  readonly timestamp: string;
}

const AWS = { name: 'Simulated AWS', provider: 'AWS', credentialType: 'ACCESS_KEY' } as const;
const FIELDS =
  'id name provider credentialType hints isValid lastVerifiedAt verificationError accountsListedAt accountsError createdAt updatedAt'.split(
    ' ',
  );
const GOOGLE = everyCredential('c2VjcmV0')[2]!.credentialData!;

describe('Credentials: POST', () => {
  const drawbridge = Drawbridge.shared({ worker: false, api: OWN_KEYS });
  const org = ownOrganization(drawbridge);
  const other = ownOrganization(drawbridge, [{ group: group(1) }]);

  beforeAll(async () => {
    // no worker: nothing is checked in the background
  });

  const create = (body: object, client = org.admin): Promise<Answer<Credential & Refusal>> =>
    client.post('/credentials', body);
  const made = async (data: object = SIMULATED_KEY, client = org.admin): Promise<Credential> =>
    client.expect(201, create({ ...AWS, name: randomUUID(), credentialData: data }, client));
  const sealed = async (id: string): Promise<Record<string, string>> => {
    const [row] = await drawbridge.query<{ sealed_data: Record<string, string> }>(
      'SELECT sealed_data FROM credentials WHERE id = $1',
      [id],
    );
    return row!.sealed_data;
  };
  const audits = (id: string): Promise<object[]> =>
    drawbridge.query(
      `SELECT event_type AS type, actor_type AS actor, result FROM audit_records WHERE resource_id = $1 ORDER BY sequence`,
      [id],
    );
  /** The body has shape B with this code. */
  const refused = ({ status, body }: Answer<Refusal>, code: string): { status: number; message: string } => {
    expect(Object.keys(body).toSorted()).toEqual(['error', 'message', 'timestamp']);
    expect(body.error).toBe(code);
    return { status, message: body.message };
  };

  it.each(everyCredential('c2VjcmV0'))(
    '$name: 201 with the record, its hints, and no secret',
    async ({ hints, ...body }) => {
      const { status, body: record } = await create(body);
      expect(status).toBe(201);
      const { name, provider, credentialType } = body;
      expect(record).toMatchObject({
        name,
        provider,
        credentialType,
        hints,
        isValid: null,
        lastVerifiedAt: null,
      });
      expect(record.hints).toEqual(hints);
      expect(record.verificationError).toBeNull();
      const more = credentialType === 'ASSUME_ROLE' ? ['externalId', 'setup'] : [];
      expect(Object.keys(record).toSorted()).toEqual([...FIELDS, ...more].toSorted());
      expect(JSON.stringify(record)).not.toContain('c2VjcmV0');
    },
  );

  it('leaves optional fields optional', async () => {
    const vercel = await create({
      name: 'x',
      provider: 'VERCEL',
      credentialType: 'TOKEN',
      credentialData: { token: 't' },
    });
    expect(vercel).toMatchObject({ status: 201, body: { hints: {} } });
    expect((await made()).hints).toEqual({ accessKeyId: SIMULATED_KEY.accessKeyId });
  });

  it.each(
    everyCredential('c2VjcmV0').flatMap((body) =>
      Object.keys(body.credentialData ?? {})
        .filter((field) => !['sessionToken', 'teamId', 'private_key_id', 'token_uri'].includes(field))
        .map((field): [string, string, CredentialBody] => [body.name, field, body]),
    ),
  )('%s without %s: 400 VALIDATION_ERROR naming it', async (_, field, body) => {
    const { [field]: _left, ...rest } = body.credentialData!;
    for (const credentialData of [rest, { ...rest, [field]: '' }, { ...rest, [field]: 7 }]) {
      const { status, message } = refused(await create({ ...body, credentialData }), 'VALIDATION_ERROR');
      expect(status).toBe(400);
      expect(message).toContain(`credentialData.${field} must be`);
    }
  });

  it.each([
    ['AWS', 'ASSUME_ROLE', 'roleArn', { roleArn: 'arn:aws:iam::1:user/me' }],
    ['AWS', 'ACCESS_KEY', 'accessKeyId', { ...SIMULATED_KEY, accessKeyId: 'AKIA\r\nHost: x' }],
    ['GCP', 'SERVICE_ACCOUNT', 'type', { ...GOOGLE, type: 'external_account' }],
    ['GCP', 'SERVICE_ACCOUNT', 'type', { ...GOOGLE, type: 'authorized_user' }],
    ['GCP', 'SERVICE_ACCOUNT', 'private_key', { ...GOOGLE, private_key: 'secret' }],
    ['GCP', 'SERVICE_ACCOUNT', 'client_email', { ...GOOGLE, client_email: 'nobody' }],
    [
      'AZURE',
      'SERVICE_PRINCIPAL',
      'tenantId',
      { ...everyCredential('x')[3]!.credentialData, tenantId: 'contoso' },
    ],
    ['APISIX', 'ADMIN_KEY', 'adminUrl', { adminUrl: 'ftp://gateway.example.com', adminKey: 'k' }],
    ['APISIX', 'ADMIN_KEY', 'adminUrl', { adminUrl: 'http://me:secret@gateway.example.com', adminKey: 'k' }],
    ['APISIX', 'ADMIN_KEY', 'adminKey', { adminUrl: 'http://gateway.example.com', adminKey: 'a\r\nb' }],
    ['VERCEL', 'TOKEN', 'token', { token: 'two words' }],
  ])('%s %s with a wrong %s: 400 naming it', async (provider, credentialType, field, credentialData) => {
    const { status, message } = refused(
      await create({ name: 'x', provider, credentialType, credentialData }),
      'VALIDATION_ERROR',
    );
    expect({ status, message }).toEqual({
      status: 400,
      message: matching(`^credentialData.${field} `),
    });
  });

  it('stores only the known fields of Google’s key JSON: token_uri is ignored', async () => {
    const body = { name: 'x', provider: 'GCP', credentialType: 'SERVICE_ACCOUNT', credentialData: GOOGLE };
    const { id } = (await create(body)).body;
    expect(Object.keys(await sealed(id)).toSorted()).toEqual([
      'client_email',
      'private_key',
      'private_key_id',
      'project_id',
      'type',
    ]);
  });

  it.each([
    ['AWS', 'TOKEN', 'ACCESS_KEY, ASSUME_ROLE'],
    ['GCP', 'ACCESS_KEY', 'SERVICE_ACCOUNT'],
    ['AZURE', 'ACCESS_KEY', 'SERVICE_PRINCIPAL'],
    ['APISIX', 'TOKEN', 'ADMIN_KEY'],
    ['VERCEL', 'AGENT', 'TOKEN'],
    ['AGENT', 'constructor', 'AGENT'],
  ])(
    '%s with %s: 400 VALIDATION_ERROR naming the allowed ones',
    async (provider, credentialType, allowed) => {
      const { status, message } = refused(
        await create({ name: 'x', provider, credentialType }),
        'VALIDATION_ERROR',
      );
      expect({ status, message }).toEqual({ status: 400, message: containing(allowed) });
    },
  );

  it.each([
    ['name', { ...AWS, name: '  ' }],
    ['provider', { ...AWS, provider: 'HETZNER' }],
    ['credentialType', { ...AWS, credentialType: 7 }],
    ['credentialData', { ...AWS, credentialData: [] }],
  ])('a wrong %s: 400 naming it', async (field, body) => {
    expect(refused(await create(body), 'VALIDATION_ERROR')).toEqual({
      status: 400,
      message: containing(field),
    });
  });

  it('ASSUME_ROLE shows the externalId generated for the organization, which cannot be set', async () => {
    const body = { name: 'x', provider: 'AWS', credentialType: 'ASSUME_ROLE' };
    const externalId = randomUUID();
    const sent = { ...body, externalId, credentialData: { roleArn: SIMULATED_ROLE, externalId } };
    const mine = (await create(sent)).body;
    const again = (await create(sent)).body;
    const theirs = (await create(sent, other.admin)).body;
    expect(mine.externalId).toMatch(/^[0-9a-f-]{36}$/);
    expect(again.externalId).toBe(mine.externalId);
    expect(mine.setup).toContain(`"sts:ExternalId": "${mine.externalId}"`);
    expect(new Set([mine.externalId, theirs.externalId, externalId]).size).toBe(3);
  });

  it('writes CREDENTIAL_CREATED', async () => {
    const { id } = await made();
    expect(await audits(id)).toEqual([{ type: 'CREDENTIAL_CREATED', actor: 'USER', result: 'SUCCESS' }]);
  });
});
