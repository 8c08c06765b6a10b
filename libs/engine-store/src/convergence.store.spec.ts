import type { Tx } from '#entities';
import { ConvergenceStore } from './convergence.store';
import type { Lease } from './lease.store';

const LEASE = { targetId: 'target' } as Lease;

describe('ConvergenceStore.due', () => {
  const holder = (organizationId: string, more: object = {}): object => ({
    resourceIpId: 'ip',
    status: 'APPLIED',
    pendingSince: '',
    cause: 'STATIC_RULE_CREATED',
    access: {
      credentialId: `of ${organizationId}`,
      region: null,
      organizationId,
    },
    writeVerified: false,
    config: {},
    expiresAt: null,
    expired: false,
    ...more,
  });
  /** Converts a row as the database returns it, written by organization a. */
  const read = async (holders: readonly object[], more: object = {}) => {
    const row = {
      ruleId: 'rule',
      key: 'key',
      address: '203.0.113.1/32',
      protocol: 'tcp',
      ports: '22',
      state: 'present',
      isUnmanaged: false,
      revision: 0,
      attempts: 0,
      inFlightMs: null,
      targetMissingMs: null,
      credentialId: 'of a',
      region: null,
      writerOrganizationId: 'a',
      providerRuleId: 'sgr-1',
      lastError: null,
      cause: null,
      isMissing: false,
      isUnwanted: false,
      isUnmarked: false,
      holders,
      ...more,
    };
    const tx = { query: () => Promise.resolve([row]) } as unknown as Tx;
    return (await new ConvergenceStore().due(tx, LEASE, 1))[0]!;
  };

  it('does not desire a rule held only by a read-only credential of another organization', async () => {
    expect(await read([holder('b')])).toMatchObject({ desired: false, removeCause: 'WRITER_RELEASED' });
  });

  it.each([
    ['a write-verified holder of another organization', [holder('b', { writeVerified: true })], {}],
    ['a read-only holder of the organization that wrote it', [holder('b'), holder('a')], {}],
    ['a read-only holder, while it is absent', [holder('b')], { state: 'absent' }],
    ['a read-only holder, while it is unmanaged', [holder('b')], { isUnmanaged: true }],
    [
      'a read-only holder, once the credential that wrote it is gone',
      [holder('b')],
      { writerOrganizationId: null },
    ],
  ])('desires a rule held by %s', async (_, holders, more) => {
    expect((await read(holders, more)).desired).toBe(true);
  });

  it.each([
    ['the recorded cause', 'USER_OFFBOARDED', 'USER_OFFBOARDED'],
    ['UNRECORDED when an earlier version released it', null, 'UNRECORDED'],
  ])('gives as removal cause without a live holder: %s', async (_, cause, removeCause) => {
    const leaving = holder('a', { status: 'REMOVING' });
    expect(await read([leaving], { cause })).toMatchObject({ desired: false, removeCause });
  });

  it('takes the addition cause from its holder, or DRIFT_REPAIRED for a missing rule', async () => {
    expect((await read([holder('a')])).addCause).toBe('STATIC_RULE_CREATED');
    expect((await read([holder('a')], { isMissing: true })).addCause).toBe('DRIFT_REPAIRED');
  });
});
