import { randomUUID } from 'node:crypto';
import { OWN_KEYS, SIMULATED_ROLE } from '../../builders/resources/credentials';
import { group, organization, ownOrganization, SIMULATED_KEY } from '../../builders/accounts/organization';
import type { Answer, ApiClient, Credential } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';
import { containing } from '../../harness/matching';

interface Refusal {
  readonly error: string;
  readonly message: string;
  readonly timestamp: string;
}

const AWS = { name: 'Simulated AWS', provider: 'AWS', credentialType: 'ACCESS_KEY' } as const;

describe('Credentials: reading, rotating, deleting, verifying', () => {
  const drawbridge = Drawbridge.shared({ worker: false, api: OWN_KEYS });
  const org = ownOrganization(drawbridge);
  const other = ownOrganization(drawbridge, [{ group: group(1) }]);

  beforeAll(async () => {
    // no worker: nothing is checked in the background
  });
  afterEach(() => drawbridge.cloud.clearFaults());

  const create = (body: object, client = org.admin): Promise<Answer<Credential & Refusal>> =>
    client.post('/credentials', body);
  const made = async (data: object = SIMULATED_KEY, client = org.admin): Promise<Credential> =>
    client.expect(201, create({ ...AWS, name: randomUUID(), credentialData: data }, client));
  const find = (id: string): Promise<Credential> =>
    org.admin.expect(200, org.admin.get<Credential>(`/credentials/${id}`));
  const patch = (id: string, body: object, client = org.admin): Promise<Answer<Credential & Refusal>> =>
    client.patch(`/credentials/${id}`, body);
  const verify = (id: string, client = org.admin): Promise<Answer<Credential & Refusal>> =>
    client.post(`/credentials/${id}/verify`);
  const remove = (id: string, client = org.admin): Promise<Answer<Refusal>> =>
    client.delete(`/credentials/${id}`);
  const resourceWith = (credentialId: string): Promise<Answer<{ id: string }>> =>
    org.admin.post('/resources', {
      name: randomUUID(),
      credentialId,
      provider: 'AWS',
      resourceType: 'SECURITY_GROUP',
      resourceIdentifier: group(2),
      region: 'eu-central-1',
    });
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

  describe('GET', () => {
    it('lists the organization’s by name, in pages with X-Total-Count and Link', async () => {
      const mine = await organization(drawbridge, [{ group: group(3) }]);
      for (const name of ['c', 'a', 'b'])
        await create({ ...AWS, name, credentialData: SIMULATED_KEY }, mine.admin);
      const names = ({ body }: Answer<Credential[]>): string[] => body.map(({ name }) => name);
      const all = await mine.admin.get<Credential[]>('/credentials');
      expect(names(all).filter((name) => name.length === 1)).toEqual(['a', 'b', 'c']);
      expect(all.headers.get('X-Total-Count')).toBe('4');
      const page = await mine.admin.get<Credential[]>('/credentials?page=1&size=3');
      expect(names(page)).toEqual(names(all).slice(3));
      expect(page.headers.get('Link')).toMatch(/page=0&size=3>; rel="prev"$/);
    });

    it('answers one by its id', async () => {
      const credential = await made();
      expect(await find(credential.id)).toEqual(credential);
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
      expect(body).toMatchObject({ name, hints: { accessKeyId: 'AKIAROTATED' } });
      expect(body).toMatchObject({ isValid: null, lastVerifiedAt: null, verificationError: null });
      const after = await sealed(id);
      expect(after['secretAccessKey']).not.toBe(before['secretAccessKey']);
      expect(
        await drawbridge.query('SELECT 1 FROM credentials WHERE id = $1 AND check_due_at <= now()', [id]),
      ).toHaveLength(1);
    });

    it('uses the new secrets from then on', async () => {
      const { id } = await made({ ...SIMULATED_KEY, secretAccessKey: 'wrong' });
      expect((await verify(id)).body.isValid).toBe(false);
      await patch(id, { credentialData: SIMULATED_KEY });
      expect((await verify(id)).body).toMatchObject({ isValid: true, verificationError: null });
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

    it.each([{ name: '' }, { name: 7 }, { name: 'x'.repeat(201) }, { credentialData: 'secret' }])(
      'answers 400 to %j',
      async (body) => {
        const { id } = await made();
        expect(refused(await patch(id, body), 'VALIDATION_ERROR').status).toBe(400);
      },
    );

    it('writes CREDENTIAL_UPDATED', async () => {
      const { id } = await made();
      await patch(id, { credentialData: SIMULATED_KEY });
      expect(await audits(id)).toContainEqual({
        type: 'CREDENTIAL_UPDATED',
        actor: 'USER',
        result: 'SUCCESS',
      });
    });
  });

  describe('DELETE', () => {
    it('answers 204 without a body; it is gone, and CREDENTIAL_DELETED is written', async () => {
      const { id } = await made();
      expect(await remove(id)).toMatchObject({ status: 204, body: null });
      expect(refused(await org.admin.get(`/credentials/${id}`), 'CREDENTIAL_NOT_FOUND').status).toBe(404);
      expect(await audits(id)).toContainEqual({
        type: 'CREDENTIAL_DELETED',
        actor: 'USER',
        result: 'SUCCESS',
      });
    });

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
      expect((await remove(id)).status).toBe(204);
      expect((await org.admin.get(`/credentials/${id}`)).status).toBe(404);
      expect((await org.admin.post(`/credentials/${id}/verify`)).status).toBe(404);
      expect((await org.admin.patch(`/credentials/${id}`, { name: 'Again' })).status).toBe(404);
      expect((await remove(id)).status).toBe(404);
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

    it.each([
      ['a wrong secret', { ...SIMULATED_KEY, secretAccessKey: 'guessed-secret' }, 'SignatureDoesNotMatch'],
      ['an unknown key', { ...SIMULATED_KEY, accessKeyId: 'AKIANOBODY' }, 'InvalidClientTokenId'],
    ])('200 with isValid false and the provider’s message for %s', async (_, data, words) => {
      const { id } = await made(data);
      const { status, body } = await verify(id);
      expect({ status, isValid: body.isValid }).toEqual({ status: 200, isValid: false });
      expect(body.verificationError).toContain(words);
      expect(body.lastVerifiedAt).not.toBeNull();
      expect(JSON.stringify(body)).not.toContain('guessed-secret');
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

    it('writes CREDENTIAL_VERIFIED with the outcome', async () => {
      const { id } = await made({ ...SIMULATED_KEY, secretAccessKey: 'wrong' });
      await verify(id);
      await patch(id, { credentialData: SIMULATED_KEY });
      await verify(id);
      const verified = (await audits(id)).filter(
        (record) => 'type' in record && record.type === 'CREDENTIAL_VERIFIED',
      );
      expect(verified).toEqual([
        { type: 'CREDENTIAL_VERIFIED', actor: 'USER', result: 'FAILURE' },
        { type: 'CREDENTIAL_VERIFIED', actor: 'USER', result: 'SUCCESS' },
      ]);
    });
  });

  describe('Of another organization, or of none', () => {
    const routes: [string, (client: ApiClient, id: string) => Promise<Answer<Refusal>>][] = [
      ['GET {id}', (client, id) => client.get(`/credentials/${id}`)],
      ['PATCH {id}', (client, id) => client.patch(`/credentials/${id}`, { name: 'x' })],
      ['DELETE {id}', (client, id) => client.delete(`/credentials/${id}`)],
      ['POST {id}/verify', (client, id) => client.post(`/credentials/${id}/verify`)],
    ];

    it.each(routes)(
      '%s: 404 CREDENTIAL_NOT_FOUND to another organization and for none, 400 for no UUID',
      async (_, ask) => {
        const { id } = await made();
        expect(refused(await ask(other.admin, id), 'CREDENTIAL_NOT_FOUND').status).toBe(404);
        expect(refused(await ask(org.admin, randomUUID()), 'CREDENTIAL_NOT_FOUND').status).toBe(404);
        expect(refused(await ask(org.admin, 'mine'), 'VALIDATION_ERROR').status).toBe(400);
        expect((await find(id)).id).toBe(id);
      },
    );
  });
});
