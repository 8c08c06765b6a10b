import { randomUUID } from 'node:crypto';
import { newcomer } from '../../builders/accounts/people';
import { group, organization, ownOrganization, SIMULATED_KEY } from '../../builders/accounts/organization';
import { resourceBody, verifiedResource, type Resource } from '../../builders/resources/resources';
import type { Answer } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';
import { until } from '../../harness/until';

describe('4.3 Cloud resources', () => {
  const drawbridge = Drawbridge.shared();
  const org = ownOrganization(drawbridge);
  const other = ownOrganization(drawbridge, [{ group: group(1) }]);

  const asked = (changes: object = {}): object => resourceBody(org, changes);
  const create = (changes: object = {}): Promise<Answer<Resource>> =>
    org.admin.post<Resource>('/resources', asked(changes));
  const created = (changes: object = {}): Promise<Resource> => org.admin.expect(201, create(changes));
  const patch = (id: string, body: object): Promise<Answer<Resource>> =>
    org.admin.patch<Resource>(`/resources/${id}`, body);
  const opened = async (target: string): Promise<string[]> =>
    (await drawbridge.cloud.rules(target)).map((rule) => `${rule.address} ${rule.fromPort}`).toSorted();

  const usable = (index: number): Promise<Resource> => verifiedResource(org, index);

  describe('POST /resources', () => {
    it('answers 201 with an inactive resource that was never verified, and exactly the fields of 2.3', async () => {
      const resource = await created({ config: { ports: [80, 443], protocol: 'tcp' } });
      expect(resource).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        name: 'database',
        credentialId: org.credentialId,
        credentialName: 'Simulated AWS',
        provider: 'AWS',
        resourceType: 'SECURITY_GROUP',
        resourceIdentifier: group(2),
        region: 'eu-central-1',
        endpoint: null,
        account: null,
        accountLabel: null,
        config: { ports: [80, 443], protocol: 'tcp' },
        labels: {
          'drawbridge/all': 'yes',
          'drawbridge/provider': 'AWS',
          'drawbridge/region': 'eu-central-1',
        },
        warnings: [],
        isActive: false,
        lastVerifiedAt: null,
        verificationError: null,
        room: null,
        createdAt: expect.stringMatching(/Z$/) as string,
        updatedAt: expect.stringMatching(/Z$/) as string,
      });
    });

    it.each([
      ['no name', { name: undefined }],
      ['a blank name', { name: '  ' }],
      ['an unknown provider', { provider: 'DIGITALOCEAN' }],
      ['an identifier the provider never gave', { resourceIdentifier: 'group' }],
      ['no region for AWS', { region: undefined }],
      ['port with ports', { config: { port: 1, ports: [2] } }],
      ['a port that is none', { config: { port: 70_000 } }],
      ['null as its only port, which a number that is none becomes', { config: { port: null } }],
      ['null as its ports', { config: { ports: null } }],
      ['a misspelled port, which would let in every one', { config: { prot: 22 } }],
    ])('with %s is 400 VALIDATION_ERROR', async (_, changes) => {
      expect(await create(changes)).toMatchObject({ status: 400, body: { error: 'VALIDATION_ERROR' } });
    });

    it('with a resourceType the provider has not is 400, which names those it has', async () => {
      expect(await create({ resourceType: 'ROUTE' })).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining('SECURITY_GROUP') as string },
      });
    });

    it('takes an endpoint for people, which a change replaces and null clears', async () => {
      const { id, endpoint } = await created({ endpoint: ' db.example.com:5432 ' });
      expect(endpoint).toBe('db.example.com:5432');
      expect((await patch(id, { name: 'renamed' })).body.endpoint).toBe(endpoint);
      expect((await patch(id, { endpoint: '[2001:db8::1]:22' })).body.endpoint).toBe('[2001:db8::1]:22');
      expect((await patch(id, { endpoint: null })).body.endpoint).toBeNull();
      for (const refused of ['', 'x'.repeat(261), 'a\nb'])
        expect((await create({ endpoint: refused })).status).toBe(400);
    });

    it('takes null for what may be left out', async () => {
      expect(await created({ config: null })).toMatchObject({ config: {} });
      const config = { port: null, ports: [22], protocol: null };
      expect((await created({ config })).config).toEqual({ ports: [22] });
    });

    it('beyond the five of the Free plan is 400 MAX_RESOURCES_REACHED, also ten at once', async () => {
      const free = await organization(drawbridge, []);
      await drawbridge.query(`UPDATE organizations SET subscription_tier = 'FREE' WHERE id = $1`, [
        free.organizationId,
      ]);
      const body = asked({ credentialId: free.credentialId });
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => free.admin.post<{ error?: string }>('/resources', body)),
      );
      expect(answers.filter((answer) => answer.status === 201)).toHaveLength(5);
      expect(answers.filter((answer) => answer.body.error === 'MAX_RESOURCES_REACHED')).toHaveLength(5);
      const [any] = await free.admin.expect(200, free.admin.get<Resource[]>('/resources'));
      await free.admin.expect(204, free.admin.delete(`/resources/${any!.id}`));
      expect((await free.admin.post('/resources', body)).status).toBe(201);
    });
  });

  it('every request for a missing resource is 404 RESOURCE_NOT_FOUND, and with a missing credential CREDENTIAL_NOT_FOUND', async () => {
    const path = `/resources/${randomUUID()}`;
    for (const answer of [
      await org.admin.get(path),
      await org.admin.patch(path, { name: 'x' }),
      await org.admin.delete(path),
      await org.admin.post(`${path}/verify`),
      await org.admin.post(`${path}/reconcile`),
    ])
      expect(answer).toMatchObject({ status: 404, body: { error: 'RESOURCE_NOT_FOUND' } });
    for (const credentialId of [other.credentialId, randomUUID()])
      for (const answer of [
        await create({ credentialId }),
        await patch(org.resourceIds[0]!, { credentialId }),
      ])
        expect(answer).toMatchObject({ status: 404, body: { error: 'CREDENTIAL_NOT_FOUND' } });
  });

  describe('PATCH /resources/{id}', () => {
    it('changes only what is given, and the credential’s name follows', async () => {
      const resource = await created();
      const credential = await org.admin.created<{ id: string }>('/credentials', {
        name: 'Another key',
        provider: 'AWS',
        credentialType: 'ACCESS_KEY',
        credentialData: SIMULATED_KEY,
      });
      const answer = await patch(resource.id, { name: 'renamed', credentialId: credential.id });
      const { updatedAt, ...rest } = answer.body;
      expect(rest).toEqual({
        ...resource,
        updatedAt: undefined,
        name: 'renamed',
        credentialId: credential.id,
        credentialName: 'Another key',
      });
      expect(Date.parse(updatedAt)).toBeGreaterThan(Date.parse(resource.updatedAt));
    });

    it('to its current credential, in another spelling of the id, changes nothing', async () => {
      const resource = await usable(3);
      const { id } = await org.started({ ipv4Address: '203.0.113.12', resourceIds: [resource.id] });
      const active = await org.reaches(id, 'ACTIVE');
      const credentialId = org.credentialId.toUpperCase();
      expect((await patch(resource.id, { credentialId })).body.credentialId).toBe(org.credentialId);
      expect((await org.session(id)).resourceIps).toEqual(active.resourceIps);
      await org.admin.posted(`/sessions/${id}/stop`);
      await org.reaches(id, 'CANCELLED');
    });

    it('takes back what GET answered, and refuses another provider or resourceType', async () => {
      const resource = await created();
      expect((await patch(resource.id, resource)).status).toBe(200);
      for (const body of [{ provider: 'GCP' }, { resourceType: 'PREFIX_LIST' }]) {
        expect(await patch(resource.id, body)).toMatchObject({
          status: 400,
          body: { error: 'VALIDATION_ERROR' },
        });
      }
    });

    it.each([
      ['null as a name', { name: null }],
      ['an identifier the provider never gave', { resourceIdentifier: 'group' }],
      ['port with ports', { config: { port: 1, ports: [2] } }],
    ])('with %s is 400 VALIDATION_ERROR and changes nothing', async (_, body) => {
      const resource = await created();
      expect(await patch(resource.id, body)).toMatchObject({
        status: 400,
        body: { error: 'VALIDATION_ERROR' },
      });
      const { warnings: _none, ...stored } = resource;
      expect((await org.admin.get(`/resources/${resource.id}`)).body).toEqual(stored);
    });
  });

  describe('DELETE /resources/{id}', () => {
    it('answers 204, takes it out of its roles and keeps its audit records', async () => {
      const resource = await created();
      await org.admin.posted(`/roles/${org.roleId}/resources/${resource.id}`);
      const answer = await org.admin.delete(`/resources/${resource.id}`);
      expect(answer).toMatchObject({ status: 204, body: null });
      expect((await org.admin.get(`/resources/${resource.id}`)).status).toBe(404);
      const role = await org.admin.get<{ resourceIds: string[] }>(`/roles/${org.roleId}`);
      expect(role.body.resourceIds).not.toContain(resource.id);
      const records = await drawbridge.query<{ event_type: string }>(
        'SELECT event_type FROM audit_records WHERE resource_id = $1 ORDER BY sequence',
        [resource.id],
      );
      expect(records.map((record) => record.event_type)).toEqual(['RESOURCE_CREATED', 'RESOURCE_DELETED']);
    });

    it('while a session uses it, or is being taken out, is 400 RESOURCE_IN_USE', async () => {
      const resource = await usable(3);
      const session = await org.started({ ipv4Address: '203.0.113.30', resourceIds: [resource.id] });
      await org.reaches(session.id, 'ACTIVE');
      const refused = { status: 400, body: { error: 'RESOURCE_IN_USE' } };
      expect(await org.admin.delete(`/resources/${resource.id}`)).toMatchObject(refused);
      await drawbridge.cloud.fault({
        kind: 'slow',
        target: group(3),
        operation: 'RevokeSecurityGroupIngress',
        delayMs: 1500,
        count: 1,
      });
      await org.admin.posted(`/sessions/${session.id}/stop`);
      expect(await org.admin.delete(`/resources/${resource.id}`)).toMatchObject(refused);
      await org.reaches(session.id, 'CANCELLED');
      expect((await org.admin.delete(`/resources/${resource.id}`)).status).toBe(204);
      const history = await org.session(session.id);
      expect(history.resourceIps[0]!.resourceName).toBe('database');
    });

    it('and a start at the same time: either the session is refused, or the deletion is', async () => {
      const outcomes = await Promise.all(
        Array.from({ length: 10 }, async (_, index) => {
          const resource = await usable(8);
          const [started, deleted] = await Promise.all([
            org.start({ ipv4Address: `203.0.113.${100 + index}`, resourceIds: [resource.id] }),
            org.admin.delete(`/resources/${resource.id}`),
          ]);
          return `${started.status} ${deleted.status}`;
        }),
      );
      expect(outcomes.filter((outcome) => !['200 400', '404 204'].includes(outcome))).toEqual([]);
    });

    it('revokes its static IP rules in the cloud and deletes one left without resources', async () => {
      const resource = await usable(9);
      const staticRule = await org.admin.created<{ id: string }>('/static-ip-rules', {
        label: 'office',
        ipAddress: '198.51.100.0/24',
        resourceIds: [resource.id],
      });
      await until('it is open', async () => (await opened(group(9))).length === 1);
      await org.admin.expect(204, org.admin.delete(`/resources/${resource.id}`));
      expect((await org.admin.get(`/static-ip-rules/${staticRule.id}`)).status).toBe(404);
      await until('it is closed', async () => (await opened(group(9))).length === 0);
      await until('nothing of it is left', async () => {
        const rows = await drawbridge.query('SELECT 1 FROM resources WHERE id = $1', [resource.id]);
        return rows.length === 0;
      });
    });
  });

  describe('POST /resources/{id}/verify', () => {
    it('makes the resource active, notes the time, and writes the audit trail', async () => {
      const resource = await created();
      const before = Date.now();
      const { body } = await org.admin.post<Resource>(`/resources/${resource.id}/verify`);
      expect(body.isActive).toBe(true);
      expect(Date.parse(body.lastVerifiedAt!)).toBeGreaterThanOrEqual(before - 1000);
      const records = await drawbridge.query(
        `SELECT 1 FROM audit_records WHERE resource_id = $1 AND event_type = 'RESOURCE_VERIFIED'`,
        [resource.id],
      );
      expect(records).toHaveLength(1);
    });

    it('of a group the cloud does not know is 404 CLOUD_RESOURCE_NOT_FOUND, and it is inactive', async () => {
      const resource = await created({ resourceIdentifier: 'sg-0fffffffffffffff1' });
      await patch(resource.id, { isActive: true });
      expect(await org.admin.post(`/resources/${resource.id}/verify`)).toMatchObject({
        status: 404,
        body: { error: 'CLOUD_RESOURCE_NOT_FOUND' },
      });
      const { body } = await org.admin.get<Resource>(`/resources/${resource.id}`);
      expect(body).toMatchObject({ isActive: false, lastVerifiedAt: null });
      expect(body.verificationError).toContain('sg-0fffffffffffffff1');
      const { client } = await newcomer(drawbridge, org.admin);
      const seen = await client.get<Resource>(`/resources/${resource.id}`);
      expect(seen.body.verificationError).toBeNull();
    });
  });

  describe('that open more than was meant', () => {
    it.each(['port', 'ports', 'protocol'])('with %s beside config is 400, also in PATCH', async (field) => {
      const resource = await org.admin.created<Resource>('/resources', resourceBody(org));
      for (const answer of [await create({ [field]: 22 }), await patch(resource.id, { [field]: 22 })]) {
        expect(answer).toMatchObject({ status: 400, body: { error: 'VALIDATION_ERROR' } });
        expect(answer.body).toMatchObject({
          message: expect.stringMatching(`^${field} belongs into config`) as string,
        });
      }
    });

    it('without ports warns what it opens, as PATCH, a verification and its sessions do', async () => {
      const resource = await verifiedResource(org, 4, {});
      const everyUdp = { warnings: ['opens every UDP port'] };
      const everyTcp = { warnings: ['opens every TCP port'] };
      expect([(await create()).body, resource]).toMatchObject([everyTcp, everyTcp]);
      expect((await patch(resource.id, { config: { protocol: 'udp' } })).body).toMatchObject(everyUdp);
      expect(await org.admin.posted(`/resources/${resource.id}/verify`)).toMatchObject(everyUdp);
      const addresses = { ipv4Address: '10.1.2.3', ipv6Address: '2001:db8::7' };
      const session = await org.started({ ...addresses, resourceIds: [resource.id] });
      const warned = [expect.stringMatching('^10.1.2.3 is private: ') as string];
      expect(session.resourceIps.map(({ warnings }) => warnings)).toEqual([
        [...everyUdp.warnings, ...warned],
        everyUdp.warnings,
      ]);
    });
  });
});
