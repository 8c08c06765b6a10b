import type { Affected, AffectedHolder, IpMove, Lease, EngineStore } from '#engine-store';
import { asOrganizationId, type RuleSettlement } from '#rules';
import type { Tx } from '#entities';
import { supersededHolders } from './rule-events';
import { settle } from './settle';

const LEASE = { targetId: 'target' } as Lease;
const TX = {} as Tx;

/** A rule written by organization a: the holder of a is released, that of b continues. */
const shared = (b: Partial<AffectedHolder>): Affected => ({
  ips: [
    {
      id: 'of a',
      organizationId: asOrganizationId('a'),
      sessionId: null,
      staticIpRuleId: null,
      status: 'REMOVING',
      timedOut: false,
      givenUp: null,
      errorMessage: null,
    },
  ],
  holders: [
    {
      ruleId: 'rule',
      resourceIpId: 'of a',
      status: 'REMOVING',
      organizationId: 'a',
      writeVerified: true,
      isDetached: false,
      isLive: false,
      waits: false,
    },
    {
      ruleId: 'rule',
      resourceIpId: 'of b',
      status: 'APPLIED',
      organizationId: 'b',
      writeVerified: false,
      isDetached: false,
      isLive: true,
      waits: false,
      ...b,
    },
  ],
  rules: [
    {
      ruleId: 'rule',
      key: 'key',
      state: 'present',
      isUnmanaged: false,
      writerOrganizationId: 'a',
      providerRuleId: 'sgr-1',
      lastError: null,
    },
  ],
});

/** The moves written by `settle`. */
async function movesOf(affected: Affected): Promise<IpMove[]> {
  const moves: IpMove[] = [];
  const stores = {
    leases: { lock: () => Promise.resolve(true) },
    rules: {
      lock: () => Promise.resolve({ rules: [], now: 0, readAt: 0, comparedAt: null }),
      save: () => Promise.resolve(),
    },
    settlements: {
      lockOwners: () => Promise.resolve(),
      affected: () => Promise.resolve(affected),
      moveIps: (_tx: Tx, some: readonly IpMove[]) => {
        moves.push(...some);
        return Promise.resolve([]);
      },
      deleteHolders: () => Promise.resolve(),
    },
    ledger: { record: () => Promise.resolve([]) },
  } as unknown as EngineStore;
  const settlement = {
    rules: [{ ruleId: 'rule', message: null } as RuleSettlement],
    access: null,
    waiting: [],
    giveUpSeconds: 60,
    reading: () => ({
      startedAgoMs: 0,
      firstStartedAgoMs: 0,
      endedAgoMs: 0,
    }),
    remarks: new Map(),
  };
  const origin = { workerId: 'worker', passId: 'pass', credentialId: null };
  await settle(TX, stores, LEASE, settlement, origin);
  return moves;
}

describe('The released last holder of the organization that wrote a rule', () => {
  it('is not REMOVED while the rule is present and held only by a read-only credential', async () => {
    expect(await movesOf(shared({ writeVerified: false }))).toEqual([]);
  });

  it('is REMOVED while another organization holds the rule with a write-verified credential', async () => {
    expect(await movesOf(shared({ writeVerified: true }))).toMatchObject([{ id: 'of a', to: 'REMOVED' }]);
  });

  it('is not REMOVED while the only other holder is being removed', async () => {
    expect(await movesOf(shared({ writeVerified: true, isLive: false }))).toEqual([]);
  });
});

describe('The holder of an address that moved away and is being removed', () => {
  const left: AffectedHolder = {
    ruleId: 'rule',
    resourceIpId: 'moved',
    status: 'REMOVING',
    organizationId: 'a',
    writeVerified: true,
    isDetached: true,
    isLive: false,
    waits: false,
  };
  const withMoved = (affected: Affected, isDecided: boolean): Affected => ({
    ...affected,
    ips: isDecided ? [...affected.ips, { ...affected.ips[0]!, id: 'moved' }] : affected.ips,
    holders: [...affected.holders, left],
  });
  const superseded = (affected: Affected): string[] =>
    supersededHolders(affected, new Set()).map(({ resourceIpId }) => resourceIpId);
  const kept = shared({ writeVerified: true });

  it('is deleted with the decision that the address is removed, while others hold the rule', async () => {
    const affected = withMoved(kept, true);
    expect((await movesOf(affected)).map(({ id, to }) => [id, to])).toContainEqual(['moved', 'REMOVED']);
    expect(superseded(affected)).toEqual(['moved']);
  });

  it('stays while the settlement is about rules of another target: the address would wait for ever', () => {
    expect(superseded(withMoved(kept, false))).toEqual([]);
  });

  it('stays while no other holder may hold the rule', async () => {
    const affected = withMoved(shared({ writeVerified: false }), true);
    expect(await movesOf(affected)).toEqual([]);
    expect(superseded(affected)).toEqual([]);
  });
});
