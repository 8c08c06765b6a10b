import type { ResourceIp, EngineStore, Holder, Lease, Loaded } from '#engine-store';
import { asOrganizationId, type Decided, type DueRule, type OrganizationId, type TargetRule } from '#rules';
import type { Tx } from '#entities';
import { settle } from './settle';

const LEASE = { targetId: 'target' } as Lease;
const TX = {} as Tx;
const [A, B] = ['a', 'b'].map((name) => asOrganizationId(name)) as [OrganizationId, OrganizationId];

interface Claim {
  readonly id: string;
  readonly organizationId: OrganizationId;
  readonly status: ResourceIp['status'];
  readonly writeVerified: boolean;
  readonly releaseCause?: Holder['releaseCause'];
}

const OF_A: Claim = {
  id: 'of a',
  organizationId: A,
  status: 'REMOVING',
  writeVerified: true,
  releaseCause: 'SESSION_STOPPED',
};
const OF_B: Claim = { id: 'of b', organizationId: B, status: 'APPLIED', writeVerified: true };
/** An address of a that moved away, and is being removed. */
const MOVED: Claim = { ...OF_A, id: 'moved', releaseCause: 'RESOURCE_MOVED' };

/** A present rule written by organization a, with these holders, and the rule of another target that is settled instead. */
const loadedWith = (...claims: readonly Claim[]): Loaded => ({
  now: 0,
  readAt: 0,
  comparedAt: null,
  knownSince: 0,
  listInFlightUntil: null,
  isRestored: false,
  rules: [
    {
      id: 'rule',
      key: 'key',
      state: 'present',
      dueAt: 0,
      writerOrganizationId: A,
      isUnmanaged: false,
      ports: '22',
      lastError: null,
      unwantedSince: null,
    } as TargetRule,
  ],
  holders: claims.map(({ id, releaseCause = null }) => ({
    ruleId: 'rule',
    resourceIpId: id,
    cause: 'SESSION_STARTED',
    releasedAt: releaseCause && 0,
    releaseCause,
  })),
  addresses: claims.map(
    ({ writeVerified, ...claim }) =>
      ({
        ...claim,
        pendingSince: 0,
        releasedAt: null,
        sessionId: null,
        session: null,
        staticIpRuleId: null,
        givenUp: null,
        errorMessage: null,
        resource: { writeVerified, access: { credentialId: 'own', region: null } },
      }) as unknown as ResourceIp,
  ),
});

const asItWas = (rule: TargetRule): Decided => ({
  rule,
  events: [],
  isAbsent: false,
  failed: null,
  changedTo: null,
});

/** What `settle` writes about a present rule: the statuses of addresses, and the holders that it deletes. */
async function settled(
  loaded: Loaded,
  more: Partial<Parameters<typeof settle>[3]> = {},
): Promise<{ moved: [id: string, to: string][]; ended: string[]; dueAt: (number | null)[] }> {
  const moved: [string, string][] = [];
  const ended: string[] = [];
  const dueAt: (number | null)[] = [];
  const stores = {
    leases: { lock: () => Promise.resolve(true) },
    rules: {
      lock: () => Promise.resolve(loaded),
      save: (_tx: Tx, rows: Parameters<EngineStore['rules']['save']>[1]) => {
        moved.push(...(rows.addresses ?? []).map(({ id, status }): [string, string] => [id, status]));
        dueAt.push(...(rows.rules ?? []).map((rule) => rule.dueAt));
        ended.push(...(rows.ended ?? []).map(({ resourceIpId }) => resourceIpId));
        return Promise.resolve();
      },
      deleteUnheld: () => Promise.resolve(),
      releaseRefused: () => Promise.resolve(),
    },
    ledger: { record: () => Promise.resolve() },
  } as unknown as EngineStore;
  const settlement = {
    ruleIds: ['rule'],
    decide: (rules: readonly DueRule[]) => rules.map(({ row }) => asItWas(row)),
    access: null,
    since: null,
    chance: 0,
    reading: () => ({ startedAgoMs: 0, firstStartedAgoMs: 0, endedAgoMs: 0 }),
    ...more,
  };
  const origin = { workerId: 'worker', passId: 'pass', credentialId: null };
  await settle(TX, stores, LEASE, settlement, origin);
  return { moved, ended, dueAt };
}

describe('The released last holder of the organization that wrote a rule', () => {
  it('is not REMOVED while the rule is present and held only by a read-only credential', async () => {
    const { moved } = await settled(loadedWith(OF_A, { ...OF_B, writeVerified: false }));
    expect(moved).toEqual([]);
  });

  it('is REMOVED while another organization holds the rule with a write-verified credential', async () => {
    const { moved, ended } = await settled(loadedWith(OF_A, OF_B));
    expect([moved, ended]).toEqual([[['of a', 'REMOVED']], ['of a']]);
  });

  it('is not REMOVED while the only other holder is being removed', async () => {
    const leaving: Claim = { ...OF_B, status: 'REMOVING', releaseCause: 'SESSION_STOPPED' };
    expect((await settled(loadedWith(OF_A, leaving))).moved).toEqual([]);
  });
});

describe('The holder of an address that moved away and is being removed', () => {
  it('is deleted with the decision that the address is removed, while others hold the rule', async () => {
    const { moved, ended } = await settled(loadedWith(OF_B, MOVED));
    expect(moved).toEqual([['moved', 'REMOVED']]);
    expect(ended).toEqual(['moved']);
  });

  it('stays while no other holder may hold the rule', async () => {
    const { moved, ended } = await settled(loadedWith({ ...OF_B, writeVerified: false }, MOVED));
    expect([moved, ended]).toEqual([[], []]);
  });
});

describe('An address that moved and waits on another target', () => {
  it('is not let in by a pass over the one it has left', async () => {
    expect((await settled(loadedWith(OF_B, { ...MOVED, status: 'PENDING' }))).moved).toEqual([]);
  });
});

describe('An addition that waits for a target which the provider does not find', () => {
  const WAITED_MS = 31_000;
  const waiting = (appliedAt: number | null): Loaded => {
    const loaded = loadedWith({ ...OF_B, status: 'PENDING' });
    return {
      ...loaded,
      rules: loaded.rules.map((rule) => ({ ...rule, state: 'absent' as const })),
      addresses: loaded.addresses.map((address) => ({ ...address, pendingSince: -WAITED_MS, appliedAt })),
    };
  };
  it('fails after the shorter time, which counts for no other reason to wait', async () => {
    expect((await settled(waiting(null), { isNotFound: true })).moved).toEqual([['of b', 'FAILED']]);
    expect((await settled(waiting(null))).moved).toEqual([]);
  });

  it('waits as long as ever when it was let in before', async () => {
    expect((await settled(waiting(0), { isNotFound: true })).moved).toEqual([]);
  });
});

describe('A rule that a pass has settled', () => {
  const decide = (dueAt: number | null) => ({
    decide: (rules: readonly DueRule[]) => rules.map(({ row }) => asItWas({ ...row, dueAt })),
  });
  const PENDING: Claim = { ...OF_B, status: 'PENDING' };
  const access = { credentialId: 'of another', region: null, organizationId: 'a' };

  it('stays due for an address that waits for another access path', async () => {
    expect((await settled(loadedWith(PENDING), { ...decide(null), access })).dueAt).toEqual([0]);
    expect((await settled(loadedWith(OF_B), { ...decide(null), access })).dueAt).toEqual([null]);
  });

  it('lets an address in that has waited since before the end of a suspension', async () => {
    const loaded = loadedWith(PENDING);
    const addresses = loaded.addresses.map((address) => ({ ...address, pendingSince: 9000 }));
    const { moved } = await settled({ ...loaded, addresses }, { ...decide(null), since: -1 });
    expect(moved).toEqual([['of b', 'APPLIED']]);
  });

  it('waits after a failure, and not for an address that has come since the pass began', async () => {
    expect((await settled(loadedWith(PENDING), { ...decide(900), access, since: 0 })).dueAt).toEqual([900]);
    expect((await settled(loadedWith(PENDING), { ...decide(900), access, since: -1 })).dueAt).toEqual([0]);
  });
});
