import { randomUUID } from 'node:crypto';
import { colleague } from '../../builders/accounts/colleague';
import { LedgerRows, type LedgerOrganization } from '../../builders/sessions/ledger';
import { organization, ownOrganization } from '../../builders/accounts/organization';
import type { Answer, Session } from '../../harness/product/api-client';
import { Drawbridge } from '../../harness/product/drawbridge';

interface RuleEvent {
  readonly id: string;
  readonly kind: string;
  readonly at: string;
  readonly target: { readonly provider: string; readonly resourceType: string | null };
  readonly lastObservedBefore: string | null;
  readonly firstObservedAfter: string | null;
  readonly message: string | null;
  readonly resourceId: string | null;
  readonly sessionId: string | null;
  readonly credentialId: string | null;
  readonly workerId: string | null;
  readonly passId: string | null;
}

interface AccessItem {
  readonly resource: { readonly id: string };
  readonly holderKind: string;
  readonly holderId: string | null;
  readonly possibleFrom: string | null;
}

const MINUTE = 60_000;

describe('Events of rules and reports', () => {
  const drawbridge = Drawbridge.shared({ worker: false });
  let ledger: LedgerRows;
  const org = ownOrganization(drawbridge);
  let owner: LedgerOrganization;
  let resourceId: string;
  let targetId: string;
  let session: Session;
  /** after the organization was made, and still in the past */
  let start: number;
  const time = (minutes: number): Date => new Date(start + minutes * MINUTE);
  const iso = (minutes: number): string => time(minutes).toISOString();

  beforeAll(async () => {
    const query = async <Row>(statement: string, given: unknown[]): Promise<Row> =>
      (await drawbridge.query<object>(statement, given)) as Row;
    ledger = new LedgerRows({ autocommit: { query } as never });
    [resourceId] = org.resourceIds as [string];
    await drawbridge.query(`UPDATE resources SET created_at = created_at - interval '1 day' WHERE id = $1`, [
      resourceId,
    ]);
    start = Date.now() - 60 * MINUTE;
    const [row] = await drawbridge.query<{ targetId: string; email: string }>(
      `SELECT r.target_id AS "targetId", u.email FROM resources r JOIN users u ON u.organization_id = r.organization_id
       WHERE r.id = $1`,
      [resourceId],
    );
    ({ targetId } = row!);
    const { organizationId, adminId: userId, credentialId } = org;
    owner = { organizationId, userId, credentialId, email: row!.email } as LedgerOrganization;
    session = await org.started({ ipv4Address: '203.0.113.1' });
    const own = { targetId, owner, resourceId, sessionId: session.id, credentialId };
    await ledger.event({
      ...own,
      kind: 'OPENED',
      at: time(2),
      times: [time(1), time(2)],
      cause: 'SESSION_STARTED',
    });
    await ledger.event({
      ...own,
      kind: 'CLOSED',
      at: time(4),
      times: [time(1), time(2), time(3), time(4)],
      cause: 'SESSION_STOPPED',
    });
    await ledger.event({
      kind: 'FOUND',
      targetId,
      at: time(5),
      times: [time(4.5), time(5)],
      cause: 'ORPHAN',
    });
  });

  const events = (path: string, by = org): Promise<RuleEvent[]> =>
    by.admin.expect(200, by.admin.get<RuleEvent[]>(path));
  const ofSession = (): string => `/sessions/${session.id}/events`;
  const ofResource = (): string => `/resources/${resourceId}/events`;
  const access = (query: string, by = org): Promise<Answer<AccessItem[]>> =>
    by.admin.get<AccessItem[]>(`/reports/access?${query}`);
  const refusal = async (query: string): Promise<Record<string, string>> => {
    const answer = await org.admin.get<{ validationErrors: Record<string, string> }>(
      `/reports/access?${query}`,
    );
    expect(answer.status).toBe(400);
    return answer.body.validationErrors;
  };

  describe('GET /sessions/{id}/events', () => {
    it('returns the observations of the session’s rules, newest first, with both observations of each', async () => {
      const [closed, opened, ...more] = await events(ofSession());
      expect(more).toEqual([]);
      expect(opened).toMatchObject({
        kind: 'OPENED',
        lastObservedBefore: iso(1),
        firstObservedAfter: iso(2),
      });
      expect(closed).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        kind: 'CLOSED',
        at: iso(4),
        target: { provider: 'AWS', resourceType: 'SECURITY_GROUP', identifier: 'sg-0123456789abcdef0' },
        address: '203.0.113.1/32',
        protocol: 'tcp',
        ports: '22',
        providerRuleId: null,
        cause: 'SESSION_STOPPED',
        message: null,
        lastObservedBefore: iso(3),
        firstObservedAfter: iso(4),
        holderKind: 'SESSION',
        resourceId,
        resourceName: 'database',
        sessionId: session.id,
        staticIpRuleId: null,
        userEmail: owner.email,
        credentialId: org.credentialId,
        workerId: 'worker-1',
        passId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      });
    });

    it('is in pages, and by time', async () => {
      const kinds = async (query: string): Promise<string[]> =>
        (await events(`${ofSession()}?${query}`)).map(({ kind }) => kind);
      expect(await kinds('page=1&size=1')).toEqual(['OPENED']);
      expect(await kinds(`to=${iso(3)}`)).toEqual(['OPENED']);
      expect(await kinds(`from=${iso(3)}`)).toEqual(['CLOSED']);
      expect((await org.admin.get(`${ofSession()}?from=${iso(3)}&to=${iso(2)}`)).status).toBe(400);
    });

    it('is open to its owner, without the worker, and to no other user', async () => {
      const [mine, another] = [await colleague(org), await colleague(org)];
      const own = await mine.client.posted<Session>('/sessions', { ipv4Address: '203.0.113.77' });
      await ledger.event({ kind: 'HELD', targetId, owner, resourceId, sessionId: own.id, at: new Date() });
      const path = `/sessions/${own.id}/events`;
      const [event] = await mine.client.expect(200, mine.client.get<RuleEvent[]>(path));
      expect(event).toMatchObject({ kind: 'HELD', workerId: null, passId: null });
      expect((await events(path))[0]).toMatchObject({ workerId: 'worker-1' });
      expect((await another.client.get(path)).status).toBe(403);
    });

    it('does not show another organization’s credential, nor what the provider said of it', async () => {
      const stranger = await organization(drawbridge);
      const held = await org.started({ ipv4Address: '203.0.113.78' });
      const at = new Date();
      const own = { targetId, owner, resourceId, sessionId: held.id, at };
      const message = 'arn:aws:iam::1:user/them is not authorized';
      await ledger.event({ ...own, kind: 'REMOVAL_REFUSED', message, credentialId: stranger.credentialId });
      await ledger.event({ ...own, kind: 'REMOVAL_REFUSED', message, credentialId: org.credentialId });
      const shown = (await events(`/sessions/${held.id}/events`)).map((one) => [
        one.credentialId,
        one.message,
      ]);
      expect(shown).toEqual([
        [org.credentialId, message],
        [null, null],
      ]);
    });
  });

  describe('GET /resources/{id}/events', () => {
    it('returns the resource’s rules, and rules without a holder on its target', async () => {
      const found = (await events(ofResource())).find(({ kind }) => kind === 'FOUND');
      expect(found).toMatchObject({
        cause: 'ORPHAN',
        holderKind: 'ORPHAN',
        lastObservedBefore: iso(4.5),
        firstObservedAfter: iso(5),
        resourceId: null,
        sessionId: null,
        userEmail: null,
      });
      expect((await events(ofResource())).some(({ sessionId }) => sessionId === session.id)).toBe(true);
    });

    it('has identifiers that stay, and do not count the events of all organizations', async () => {
      const ids = (await events(ofResource())).map(({ id }) => id);
      expect((await events(ofResource())).map(({ id }) => id)).toEqual(ids);
      const isSame = (index: number) => (digit: string, at: number) => digit === ids[index]![at];
      const alike = ids.slice(1).map((id, index) => id.split('').filter(isSame(index)).length);
      expect(Math.max(...alike)).toBeLessThan(18);
    });

    it('hides sessions from another organization on the same target, and anything before its resource existed', async () => {
      const stranger = await organization(drawbridge);
      await ledger.event({ kind: 'REMOVAL_REFUSED', targetId, at: new Date(), cause: 'ORPHAN' });
      const path = `/resources/${stranger.resourceIds[0]}/events`;
      expect((await events(path, stranger)).map(({ kind, resourceId: of }) => [kind, of])).toEqual([
        ['REMOVAL_REFUSED', null],
      ]);
    });

    it('returns nothing of a target to organizations without proven write access', async () => {
      const stranger = await organization(drawbridge);
      await drawbridge.query('UPDATE resources SET write_verified = false WHERE id = $1', [
        stranger.resourceIds[0],
      ]);
      await ledger.event({ kind: 'REMOVAL_REFUSED', targetId, at: new Date(), cause: 'ORPHAN' });
      expect(await events(`/resources/${stranger.resourceIds[0]}/events`, stranger)).toEqual([]);
    });
  });

  describe('GET /reports/access', () => {
    it('returns access by resource, user and address', async () => {
      for (const filter of [`resourceId=${resourceId}`, `userId=${org.adminId}`, 'address=203.0.113.1']) {
        const { body } = await access(`${filter}&at=${iso(2.5)}`);
        expect(body).toEqual([
          {
            resource: { id: resourceId, name: 'database' },
            target: { provider: 'AWS', identifier: 'sg-0123456789abcdef0' },
            address: '203.0.113.1/32',
            protocol: 'tcp',
            ports: '22',
            holderKind: 'SESSION',
            holderId: session.id,
            userEmail: owner.email,
            cause: 'SESSION_STOPPED',
            certainFrom: iso(2),
            certainUntil: iso(3),
            possibleFrom: iso(1),
            possibleUntil: iso(4),
            reason: null,
            ticket: null,
            approvers: [],
            breakGlass: false,
          },
        ]);
      }
      expect((await access(`resourceId=${resourceId}&from=${iso(-9)}&to=${iso(0)}`)).body).toEqual([]);
    });

    it('without any filter or time returns what is open now on every resource', async () => {
      const live = await ledger.rule(targetId, [time(10), time(11), time(12)], { address: '203.0.113.6/32' });
      await ledger.holder(live, owner, resourceId, session.id);
      for (const query of ['', `resourceId=${resourceId}`]) {
        const { body } = await access(query);
        expect(body).toContainEqual(
          expect.objectContaining({ address: '203.0.113.6/32', holderId: session.id }),
        );
        expect(JSON.stringify(body)).not.toContain(iso(3));
      }
      await drawbridge.query('DELETE FROM rule_holders WHERE rule_id = $1', [live]);
      await drawbridge.query('DELETE FROM rules WHERE id = $1', [live]);
    });

    it('is a CSV file, too', async () => {
      const path = `/reports/access?format=csv&resourceId=${resourceId}&at=${iso(2.5)}`;
      const { status, headers, body } = await org.admin.get<string>(path);
      expect(status).toBe(200);
      expect(headers.get('Content-Type')).toMatch(/^text\/csv/);
      expect(headers.get('Content-Disposition')).toBe('attachment; filename=access.csv');
      expect(body.split('\r\n')).toEqual([
        expect.stringMatching(/^resourceId,resourceName,provider,target,address/),
        `${resourceId},database,AWS,sg-0123456789abcdef0,203.0.113.1/32,tcp,22,SESSION,${session.id},` +
          `${owner.email},SESSION_STOPPED,${iso(2)},${iso(3)},${iso(1)},${iso(4)},,,,false`,
        '',
      ]);
    });
    const id = randomUUID();
    it.each([
      [
        'from=2026-01-01&to=2026-01-02',
        'resourceId',
        'is required with from and to, or else userId or address',
      ],
      [`resourceId=${id}&userId=${id}&at=2026-01-01`, 'userId', 'must be left out when resourceId is given'],
      [`userId=${id}&address=203.0.113.1&at=2026-01-01`, 'address', 'must be left out when userId is given'],
      ['address=203.0.113&at=2026-01-01', 'address', 'must be an IP address or a CIDR range'],
      [`userId=${id}&from=2026-01-01`, 'to', 'is required with from'],
      [`userId=${id}&to=2026-01-01`, 'from', 'is required with to'],
      [`userId=${id}&at=2026-01-01&to=2026-01-02`, 'to', 'must be left out when at is given'],
      [`userId=${id}&from=2026-02-01&to=2026-01-01`, 'from', 'must not be later than to'],
      [
        `userId=${id}&from=2024-01-01&to=2026-01-01`,
        'to',
        'must be at most 400 days after from: ask for shorter windows',
      ],
      [`userId=${id}&at=yesterday`, 'at', expect.stringContaining('ISO 8601')],
      [`userId=x&at=2026-01-01`, 'userId', 'must be a UUID'],
      [`userId=${id}&at=2026-01-01&format=xml`, 'format', 'must be one of json, csv'],
    ])('400 for %s, naming %s and the fix', async (query, field, words) => {
      expect(await refusal(query)).toEqual({ [field]: words as string });
    });
    it('above 10000 items requires a narrower window', async () => {
      const own = await organization(drawbridge);
      await drawbridge.query(
        `INSERT INTO rule_events (at, kind, target_id, provider, target, address, protocol, ports, holder_kind,
           organization_id, user_id, possible_from, possible_until)
         SELECT now(), 'CLOSED', $1, 'AWS', 'sg', '203.0.113.1/32', 'tcp', '22', 'SESSION', $2, $3,
           now() - interval '1 minute', now() FROM generate_series(1, 10001)`,
        [targetId, own.organizationId, own.adminId],
      );
      const answer = await own.admin.get(
        `/reports/access?userId=${own.adminId}&from=2026-01-01&to=2027-01-01`,
      );
      const to = 'leads to more than 10000 items: ask for a narrower window';
      expect(answer).toMatchObject({ status: 400, body: { validationErrors: { to } } });
    });
  });
});
