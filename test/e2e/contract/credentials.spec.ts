import { randomUUID } from 'node:crypto';
import {
  everyCredential,
  OWN_KEYS,
  SIMULATED_ROLE,
  type CredentialBody,
} from '../../builders/resources/credentials';
import { group, ownOrganization, SIMULATED_KEY } from '../../builders/accounts/organization';
import { resourceBody } from '../../builders/resources/resources';
import type { Answer, Credential } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';
import { containing, matching } from '../../harness/matching';

interface Refusal {
  readonly error: string;
  readonly message: string;
  readonly timestamp: string;
}

const AWS = { name: 'Simulated AWS', provider: 'AWS', credentialType: 'ACCESS_KEY' } as const;
const GOOGLE = everyCredential('c2VjcmV0')[2]!.credentialData!;
const UNCHECKED = { isValid: null, lastVerifiedAt: null, verificationError: null };

describe('Credentials', () => {
  // no worker: nothing is checked in the background
  const drawbridge = Drawbridge.shared({ worker: false, api: OWN_KEYS });
  const org = ownOrganization(drawbridge);
  const other = ownOrganization(drawbridge, [{ group: group(1) }]);

  afterEach(() => drawbridge.cloud.clearFaults());

  const create = (body: object, client = org.admin): Promise<Answer<Credential & Refusal>> =>
    client.post('/credentials', body);
  const made = (credentialData: object = SIMULATED_KEY): Promise<Credential> =>
    org.admin.expect(201, create({ ...AWS, name: randomUUID(), credentialData }));
  const find = (id: string): Promise<Credential> =>
    org.admin.expect(200, org.admin.get<Credential>(`/credentials/${id}`));
  const patch = (id: string, body: object): Promise<Answer<Credential & Refusal>> =>
    org.admin.patch(`/credentials/${id}`, body);
  const verify = (id: string): Promise<Answer<Credential & Refusal>> =>
    org.admin.post(`/credentials/${id}/verify`);
  const remove = (id: string): Promise<Answer<Refusal>> => org.admin.delete(`/credentials/${id}`);
  const resourceWith = (credentialId: string): Promise<Answer<{ id: string }>> =>
    org.admin.post('/resources', resourceBody(org, { credentialId }));
  const sealed = async (id: string): Promise<Record<string, string>> => {
    const [row] = await drawbridge.query<{ sealed_data: Record<string, string> }>(
      'SELECT sealed_data FROM credentials WHERE id = $1',
      [id],
    );
    return row!.sealed_data;
  };
  /** The body has shape B with this code. */
  const refused = ({ status, body }: Answer<Refusal>, code: string): { status: number; message: string } => {
    expect(Object.keys(body).toSorted()).toEqual(['error', 'message', 'timestamp']);
    expect(body.error).toBe(code);
    return { status, message: body.message };
  };

  describe('POST', () => {
    it.each(everyCredential('c2VjcmV0'))(
      '$name: 201 with the record, its hints, and no secret',
      async ({ hints, ...body }) => {
        const { status, body: record } = await create(body);
        expect(status).toBe(201);
        const { name, provider, credentialType } = body;
        expect(record).toMatchObject({ name, provider, credentialType, ...UNCHECKED });
        expect(record.hints).toEqual(hints);
        expect('externalId' in record).toBe(credentialType === 'ASSUME_ROLE');
        expect(JSON.stringify(record)).not.toContain('c2VjcmV0');
      },
    );

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
      ['GCP', 'SERVICE_ACCOUNT', 'type', { ...GOOGLE, type: 'authorized_user' }],
      ['GCP', 'SERVICE_ACCOUNT', 'client_email', { ...GOOGLE, client_email: 'nobody' }],
      ['APISIX', 'ADMIN_KEY', 'adminUrl', { adminUrl: 'ftp://gateway.example.com', adminKey: 'k' }],
      [
        'APISIX',
        'ADMIN_KEY',
        'adminUrl',
        { adminUrl: 'http://me:secret@gateway.example.com', adminKey: 'k' },
      ],
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
      ['name', { ...AWS, name: '  ' }, 'must not be empty'],
      ['provider', { ...AWS, provider: 'HETZNER' }, 'must be one of AWS'],
      ['credentialType', { ...AWS, credentialType: 'TOKEN' }, 'ACCESS_KEY, ASSUME_ROLE'],
      ['credentialType', { name: 'x', provider: 'AGENT', credentialType: 'constructor' }, 'AGENT'],
    ])('a wrong %s is 400 VALIDATION_ERROR, and names what is right: %j', async (field, body, words) => {
      const { status, message } = refused(await create(body), 'VALIDATION_ERROR');
      expect([status, message]).toEqual([400, matching(`^${field} .*${words}`)]);
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
  });

  describe('PATCH', () => {
    it('renames it and leaves the rest', async () => {
      const { id } = await made();
      await verify(id);
      const before = await sealed(id);
      const { status, body } = await patch(id, { name: ' New name ' });
      expect({ status, body }).toMatchObject({ status: 200, body: { name: 'New name', isValid: true } });
      expect(await sealed(id)).toEqual(before);
    });

    it('rotates the secrets: sealed anew, hints renewed, nothing known until they are checked', async () => {
      const { id, name } = await made();
      await verify(id);
      const before = await sealed(id);
      const { status, body } = await patch(id, {
        credentialData: { accessKeyId: 'AKIAROTATED', secretAccessKey: SIMULATED_KEY.secretAccessKey },
      });
      expect(status).toBe(200);
      expect(body).toMatchObject({ name, hints: { accessKeyId: 'AKIAROTATED' }, ...UNCHECKED });
      const after = await sealed(id);
      expect(after['secretAccessKey']).not.toBe(before['secretAccessKey']);
      expect(
        await drawbridge.query('SELECT 1 FROM credentials WHERE id = $1 AND check_due_at <= now()', [id]),
      ).toHaveLength(1);
    });

    it('replaces all old secrets: an omitted optional field is removed, an omitted required one is refused', async () => {
      const { id } = await made({ ...SIMULATED_KEY, sessionToken: 'old' });
      const partial = await patch(id, { credentialData: { accessKeyId: SIMULATED_KEY.accessKeyId } });
      expect(refused(partial, 'VALIDATION_ERROR')).toEqual({
        status: 400,
        message: containing('credentialData.secretAccessKey'),
      });
      await patch(id, { credentialData: SIMULATED_KEY });
      expect(Object.keys(await sealed(id)).toSorted()).toEqual(['accessKeyId', 'secretAccessKey']);
    });

    it('ignores provider and credentialType: they stay', async () => {
      const { id } = await made();
      expect((await patch(id, { provider: 'GCP', credentialType: 'TOKEN' })).body).toMatchObject({
        provider: 'AWS',
        credentialType: 'ACCESS_KEY',
      });
    });

    it.each([{ name: '' }, { name: 'x'.repeat(201) }, { credentialData: 'secret' }])(
      'answers 400 to %j',
      async (body) => {
        const { id } = await made();
        expect(refused(await patch(id, body), 'VALIDATION_ERROR').status).toBe(400);
      },
    );
  });

  describe('DELETE', () => {
    it('answers 400 CREDENTIAL_IN_USE while a resource names it, naming the resource', async () => {
      expect(refused(await remove(org.credentialId), 'CREDENTIAL_IN_USE')).toEqual({
        status: 400,
        message: containing('"resource-0"'),
      });
    });

    it('does not mind a resource that is deleted while its rules are being removed', async () => {
      const { id } = await made();
      const { body } = await resourceWith(id);
      await drawbridge.query('UPDATE resources SET deleted_at = now() WHERE id = $1', [body.id]);
      expect(await remove(id)).toMatchObject({ status: 204, body: null });
      for (const answer of [
        await org.admin.get<Refusal>(`/credentials/${id}`),
        await verify(id),
        await patch(id, { name: 'Again' }),
        await remove(id),
      ])
        expect(refused(answer, 'CREDENTIAL_NOT_FOUND').status).toBe(404);
      const listed = await org.admin.expect(200, org.admin.get<{ id: string }[]>('/credentials'));
      expect(listed.map((credential) => credential.id)).not.toContain(id);
      expect((await resourceWith(id)).status).toBe(404);
      // the rules are removed with it: it stays until they are
      expect(await drawbridge.query('SELECT FROM credentials WHERE id = $1', [id])).toHaveLength(1);
    });

    const writtenWith = async (id: string, state: string): Promise<string> => {
      const [rule] = await drawbridge.query<{ id: string }>(
        `INSERT INTO rules (target_id, key, address, protocol, ports, state, credential_id)
         SELECT target_id, $2, '203.0.113.1/32', 'tcp', '22', $3, $1 FROM resources WHERE id = $4 RETURNING id`,
        [id, randomUUID(), state, org.resourceIds[0]],
      );
      return rule!.id;
    };

    it.each(['present', 'unknown', 'absent'])(
      '204 with an unwanted rule written with it that is %s',
      async (state) => {
        const { id } = await made();
        await writtenWith(id, state);
        expect((await remove(id)).status).toBe(204);
      },
    );

    it('400 while a holder keeps a rule that was written with it', async () => {
      const { id } = await made();
      const rule = await writtenWith(id, 'present');
      const { resourceIps } = await org.started({ ipv4Address: '203.0.113.1' });
      await drawbridge.query('UPDATE rule_holders SET rule_id = $1 WHERE resource_ip_id = $2', [
        rule,
        resourceIps[0]!.id,
      ]);
      expect(refused(await remove(id), 'CREDENTIAL_IN_USE').message).toContain('still in use');
    });

    it('400 while the provider refuses it and rules are to be removed with it, naming the fix', async () => {
      const { id } = await made();
      await writtenWith(id, 'present');
      await drawbridge.query('UPDATE credentials SET is_valid = false WHERE id = $1', [id]);
      expect(refused(await remove(id), 'CREDENTIAL_IN_USE').message).toContain('PATCH');
    });

    it('deleted and put to use at the same moment: one of the two is refused', async () => {
      const tries = Array.from({ length: 12 }, async () => {
        const { id } = await made();
        const [used, deleted] = await Promise.all([resourceWith(id), remove(id)]);
        expect([
          [201, 400],
          [404, 204],
        ]).toContainEqual([used.status, deleted.status]);
      });
      await Promise.all(tries);
    });
  });

  describe('POST {id}/verify', () => {
    it('200 with isValid true and lastVerifiedAt when the provider takes it', async () => {
      const { id } = await made();
      const before = Date.now();
      const { status, body } = await verify(id);
      expect({ status, body }).toMatchObject({
        status: 200,
        body: { id, isValid: true, verificationError: null },
      });
      expect(Date.parse(body.lastVerifiedAt!)).toBeGreaterThan(before - 5000);
      expect(await find(id)).toEqual(body);
    });

    it('200 with isValid false and the provider’s message for a wrong secret; both outcomes are recorded', async () => {
      const { id } = await made({ ...SIMULATED_KEY, secretAccessKey: 'guessed-secret' });
      const { status, body } = await verify(id);
      expect([status, body.isValid]).toEqual([200, false]);
      expect(body.verificationError).toContain('SignatureDoesNotMatch');
      expect(body.lastVerifiedAt).not.toBeNull();
      expect(JSON.stringify(body)).not.toContain('guessed-secret');
      await patch(id, { credentialData: SIMULATED_KEY });
      expect((await verify(id)).body).toMatchObject({ isValid: true, verificationError: null });
      const verified = await drawbridge.query(
        `SELECT actor_type AS actor, result FROM audit_records
         WHERE resource_id = $1 AND event_type = 'CREDENTIAL_VERIFIED' ORDER BY sequence`,
        [id],
      );
      expect(verified).toEqual([
        { actor: 'USER', result: 'FAILURE' },
        { actor: 'USER', result: 'SUCCESS' },
      ]);
    });

    it('a role is assumed with the organization’s external id', async () => {
      const body = { name: 'x', provider: 'AWS', credentialType: 'ASSUME_ROLE' };
      const taken = (await create({ ...body, credentialData: { roleArn: SIMULATED_ROLE } })).body;
      expect((await verify(taken.id)).body).toMatchObject({ isValid: true });
      const foreign = 'arn:aws:iam::123456789012:role/another';
      const denied = (await create({ ...body, credentialData: { roleArn: foreign } })).body;
      expect((await verify(denied.id)).body).toMatchObject({
        isValid: false,
        verificationError: containing('not authorized'),
      });
    });

    it('200 with isValid and lastVerifiedAt unchanged and an error message when the provider gives no result', async () => {
      const { id } = await made();
      const { lastVerifiedAt } = (await verify(id)).body;
      await drawbridge.cloud.fault({ kind: 'throttle', operation: 'GetCallerIdentity', count: 1 });
      expect(await verify(id)).toMatchObject({
        status: 200,
        body: { isValid: true, lastVerifiedAt, verificationError: containing('Throttling') },
      });
    });
  });
});
