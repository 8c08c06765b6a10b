import { asOrganizationId, type SessionStatus } from '#rules';
import { sessionMoved } from './settle-owners';

const recordOf = (from: SessionStatus, to: SessionStatus): ReturnType<typeof sessionMoved> =>
  sessionMoved(
    {
      id: 'session',
      organizationId: asOrganizationId('organization'),
      status: from,
      endedReason: null,
      leaseLost: false,
      userId: 'user',
      userEmail: 'ada@example.com',
      errorMessage: 'not authorized',
      ips: [],
      isSuspended: false,
    },
    to,
  );

describe('sessionMoved', () => {
  it.each([
    ['PENDING', 'ACTIVE', 'SESSION_ACTIVATED', 'SUCCESS', null],
    ['PENDING', 'PARTIAL', 'SESSION_ACTIVATED', 'SUCCESS', null],
    ['PENDING', 'FAILED', 'SESSION_FAILED', 'FAILURE', 'not authorized'],
    ['ACTIVE', 'PARTIAL', 'SESSION_FAILED', 'FAILURE', 'not authorized'],
    ['ACTIVE', 'FAILED', 'SESSION_FAILED', 'FAILURE', 'not authorized'],
    ['EXPIRING', 'EXPIRED', 'SESSION_EXPIRED', 'SUCCESS', null],
    ['EXPIRING', 'CANCELLED', 'SESSION_CANCELLED', 'SUCCESS', null],
  ] as const)('from %s to %s is %s, %s', (from, to, eventType, result, errorMessage) => {
    expect(recordOf(from, to)).toMatchObject({ eventType, result, errorMessage });
  });
});
