import { ADDITION_CAUSES, REMOVAL_CAUSES } from './cause';

/** Recorded causes must stay readable: none may be renamed or removed. */
describe('Causes in the ledger', () => {
  it('of additions are unchanged', () => {
    expect(ADDITION_CAUSES).toEqual([
      'SESSION_STARTED',
      'STATIC_RULE_CREATED',
      'LOCKDOWN_LIFTED',
      'STATIC_RULE_EXTENDED',
      'RESOURCE_MOVED',
      'CONFIG_CHANGED',
      'DRIFT_REPAIRED',
      'WRITER_RELEASED',
    ]);
  });

  it('of removals are unchanged', () => {
    expect(REMOVAL_CAUSES).toEqual([
      'SESSION_STOPPED',
      'SESSION_STOPPED_BY_ADMIN',
      'SESSION_EXPIRED',
      'LEASE_LOST',
      'USER_OFFBOARDED',
      'ROLE_LOST',
      'REFUSED_BY_ISSUER',
      'NOT_SIGNED_IN_AGAIN',
      'LOCKED_DOWN',
      'STATIC_RULE_DELETED',
      'STATIC_RULE_CHANGED',
      'STATIC_RULE_EXPIRED',
      'RESOURCE_MOVED',
      'RESOURCE_DELETED',
      'CONFIG_CHANGED',
      'ABANDONED',
      'ADD_REFUSED',
      'WRITER_RELEASED',
      'STALE_RULE',
      'ORPHAN',
      'MAKE_ROOM',
      'TARGET_GONE',
      'CHANGED_OUTSIDE',
    ]);
  });
});
