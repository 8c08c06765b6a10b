import {
  group,
  organization,
  ownOrganization,
  SIMULATED_KEY,
  type Organization,
} from '../builders/accounts/organization';
import type { Resource } from '../builders/resources/resources';
import { healthOf } from '../builders/sessions/rule-ledger';
import type { Credential } from '../harness/product/api-client';
import { Drawbridge } from '../harness/product/drawbridge';
import { until } from '../harness/until';

const WRONG = { ...SIMULATED_KEY, secretAccessKey: 'wrong-secret' };
const CHECK = 'GetCallerIdentity';
const LOOK = 'DescribeSecurityGroups';

describe('Credentials and resources are checked in the background', () => {
  const drawbridge = Drawbridge.shared();

  afterEach(() => drawbridge.cloud.clearFaults());

  describe('credentials', () => {
    const org = ownOrganization(drawbridge, [{ group: group(0) }]);
    const key = { name: 'Simulated AWS', provider: 'AWS', credentialType: 'ACCESS_KEY' };

    const made = (credentialData: object): Promise<Credential> =>
      org.admin.created<Credential>('/credentials', { ...key, credentialData });
    const find = (id: string): Promise<Credential> => org.admin.read<Credential>(`/credentials/${id}`);
    const becomes = (id: string, isValid: boolean): Promise<Credential> =>
      until(`credential ${id} has isValid ${isValid}`, async () => {
        const credential = await find(id);
        return credential.isValid === isValid && credential;
      });
    const dueNow = (id: string): Promise<object[]> =>
      drawbridge.query('UPDATE credentials SET check_due_at = now() WHERE id = $1', [id]);
    const settled = (id: string): Promise<unknown> =>
      until('the check is over', async () => {
        const soon = `SELECT 1 FROM credentials WHERE id = $1 AND check_due_at > now() + interval '23 hours'`;
        return (await drawbridge.query(soon, [id])).length > 0;
      });
    const audits = (id: string): Promise<object[]> =>
      drawbridge.query(
        `SELECT actor_type AS actor, result FROM audit_records
         WHERE resource_id = $1 AND event_type = 'CREDENTIAL_VERIFIED' ORDER BY sequence`,
        [id],
      );

    it('a new one gets isValid true and lastVerifiedAt, by SYSTEM, and is checked again after 24 hours', async () => {
      const { id } = await made(SIMULATED_KEY);
      const valid = await becomes(id, true);
      expect(valid.verificationError).toBeNull();
      expect(valid.lastVerifiedAt).not.toBeNull();
      expect(await audits(id)).toEqual([{ actor: 'SYSTEM', result: 'SUCCESS' }]);
      const [due] = await drawbridge.query<{ hours: number }>(
        'SELECT extract(epoch FROM check_due_at - last_verified_at)::float8 / 3600 AS hours FROM credentials WHERE id = $1',
        [id],
      );
      expect(due!.hours).toBeCloseTo(24, 3);
    });

    it('an invalid one gets isValid false with the provider’s message, without the secret, until it is rotated', async () => {
      const { id } = await made(WRONG);
      const { verificationError } = await becomes(id, false);
      expect(verificationError).toContain('SignatureDoesNotMatch');
      expect(verificationError).not.toContain(WRONG.secretAccessKey);
      await org.admin.patched(`/credentials/${id}`, { credentialData: SIMULATED_KEY });
      expect(await becomes(id, true)).toMatchObject({ verificationError: null });
    });

    it('an unchanged outcome is not recorded, a changed one is', async () => {
      const { id } = await made(SIMULATED_KEY);
      await becomes(id, true);
      await dueNow(id);
      await settled(id);
      expect(await audits(id)).toHaveLength(1);
      await drawbridge.cloud.fault({ kind: 'refuse', operation: CHECK, count: 1 });
      await dueNow(id);
      await becomes(id, false);
      const results = ['SUCCESS', 'FAILURE'];
      expect(await audits(id)).toEqual(results.map((result) => ({ actor: 'SYSTEM', result })));
    });

    it.each(['throttle', 'error'])(
      'a provider that answers with %s says nothing: isValid stays, and it is asked again',
      async (kind) => {
        const { id } = await made(SIMULATED_KEY);
        await becomes(id, true);
        await drawbridge.cloud.fault({ kind, operation: CHECK, count: 1 });
        await dueNow(id);
        const attempts = 'SELECT 1 FROM credentials WHERE id = $1 AND check_attempts = 1';
        const isAsked = async (): Promise<boolean> => (await drawbridge.query(attempts, [id])).length > 0;
        await until('the provider did not say', isAsked);
        expect(await find(id)).toMatchObject({ isValid: true, verificationError: null });
        await settled(id);
        expect(await find(id)).toMatchObject({ isValid: true, verificationError: null });
        expect(await audits(id)).toHaveLength(1);
      },
    );

    it('one for agents is always valid', async () => {
      const host = { name: 'Hosts', provider: 'AGENT', credentialType: 'AGENT' };
      const { id } = await org.admin.created<Credential>('/credentials', host);
      await becomes(id, true);
      const verified = await org.admin.posted(`/credentials/${id}/verify`);
      expect(verified).toMatchObject({ isValid: true, verificationError: null });
    });

    it('two workers check each credential once', async () => {
      const second = await drawbridge.startWorker();
      const calls = async (): Promise<number> =>
        (await drawbridge.cloud.calls()).filter(({ operation }) => operation === CHECK).length;
      const before = await calls();
      const credentials = await Promise.all(Array.from({ length: 30 }, () => made(SIMULATED_KEY)));
      for (const { id } of credentials) await becomes(id, true);
      expect((await calls()) - before).toBe(30);
      await second.stop();
    });
  });

  describe('resources', () => {
    let org: Organization;
    beforeEach(async () => {
      org = await organization(drawbridge, [{ group: group(5) }]);
    });

    const resource = (): Promise<Resource> => org.admin.read<Resource>(`/resources/${org.resourceIds[0]}`);
    /** Changes columns of a resource, by default of the organization's. */
    const set = (assignment: string, id = org.resourceIds[0]): Promise<object[]> =>
      drawbridge.query(`UPDATE resources SET ${assignment} WHERE id = $1`, [id]);
    const dueNow = (): Promise<object[]> => set('verify_due_at = now()');
    const dueIn = (minutes: number): Promise<unknown> =>
      until(`it is due in ${minutes} minutes`, async () => {
        const near = `abs(extract(epoch FROM verify_due_at - now()) / 60 - $2::float8) < 0.5`;
        const found = `SELECT 1 FROM resources WHERE id = $1 AND ${near}`;
        return (await drawbridge.query(found, [org.resourceIds[0], minutes])).length > 0;
      });
    const verified = async (): Promise<void> => {
      await dueNow();
      await dueIn(30);
    };
    const refuseOnce = (): Promise<void> =>
      drawbridge.cloud.fault({ kind: 'refuse', operation: LOOK, target: group(5), count: 1 });
    const events = async (): Promise<string[]> =>
      (await healthOf(drawbridge, org.resourceIds[0]!)).map(({ eventType }) => eventType);
    const audits = (): Promise<object[]> =>
      drawbridge.query(
        `SELECT result FROM audit_records
         WHERE resource_id = $1 AND event_type = 'RESOURCE_VERIFIED' AND actor_type = 'SYSTEM' ORDER BY sequence`,
        [org.resourceIds[0]],
      );

    it('a verified resource is verified every 30 minutes; an unchanged outcome is no event', async () => {
      const before = (await resource()).lastVerifiedAt;
      await set(`verify_due_at = NULL, last_verified_at = now() - interval '31 minutes'`);
      await dueIn(30);
      const { isActive, lastVerifiedAt } = await resource();
      expect(isActive).toBe(true);
      expect(Date.parse(lastVerifiedAt!)).toBeGreaterThan(Date.parse(before!));
      expect(await events()).toEqual(['VERIFY_OK']);
      expect(await audits()).toEqual([]);
    });

    it('a refused resource becomes inactive, with an event and a record, and active again when it succeeds', async () => {
      await refuseOnce();
      await verified();
      expect(await resource()).toMatchObject({ isActive: false });
      expect(await events()).toEqual(['VERIFY_OK', 'VERIFY_FAILED']);
      await verified();
      expect(await resource()).toMatchObject({ isActive: true });
      expect(await events()).toEqual(['VERIFY_OK', 'VERIFY_FAILED', 'VERIFY_OK']);
      expect(await audits()).toEqual([{ result: 'FAILURE' }, { result: 'SUCCESS' }]);
    });

    it('a cloud that does not respond changes nothing', async () => {
      await drawbridge.cloud.fault({ kind: 'throttle', operation: LOOK, target: group(5), count: 1 });
      await dueNow();
      await dueIn(2);
      expect(await resource()).toMatchObject({ isActive: true });
      expect(await events()).toEqual(['VERIFY_OK']);
    });

    it('a target that is not found changes nothing at first, and makes its resource inactive after hours', async () => {
      await drawbridge.cloud.fault({ kind: 'not-found', operation: LOOK, target: group(5) });
      await dueNow();
      await dueIn(2);
      expect(await resource()).toMatchObject({ isActive: true });
      expect(await events()).toEqual(['VERIFY_OK']);
      await set(`last_verified_at = now() - interval '7 hours'`);
      await verified();
      expect(await resource()).toMatchObject({ isActive: false });
      expect(await events()).toEqual(['VERIFY_OK', 'VERIFY_FAILED']);
    });

    it('a resource that an admin deactivated stays inactive', async () => {
      await set('is_active = false');
      await verified();
      expect(await resource()).toMatchObject({ isActive: false });
      await refuseOnce();
      await verified();
      await verified();
      expect(await resource()).toMatchObject({ isActive: false });
      expect(await events()).toEqual(['VERIFY_OK', 'VERIFY_FAILED', 'VERIFY_OK']);
    });

    it('resources that were never verified or are deleted are not checked', async () => {
      const [{ resourceIds: never }, { resourceIds: deleted }, { resourceIds: later }] = [
        org,
        await organization(drawbridge, [{ group: group(6) }]),
        await organization(drawbridge, [{ group: group(7) }]),
      ];
      await set('verify_due_at = NULL, last_verified_at = NULL', never[0]);
      await set('deleted_at = now(), verify_due_at = now()', deleted[0]);
      await set('verify_due_at = now()', later[0]);
      const due = (ids: readonly string[]): Promise<object[]> =>
        drawbridge.query('SELECT 1 FROM resources WHERE id = ANY($1) AND verify_due_at > now()', [ids]);
      await until('a later one was verified', async () => (await due(later)).length > 0);
      expect(await due([...never, ...deleted])).toEqual([]);
    });
  });
});
