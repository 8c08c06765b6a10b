import type { FeedRecord } from '#tenant-store';
import { noticeMail } from './notice-text';
import { noticeOf } from './notices';

const record = (given: Partial<FeedRecord>): FeedRecord =>
  ({
    timestamp: '2026-01-05T09:30:00.000Z',
    actorType: 'SYSTEM',
    result: 'FAILURE',
    resourceId: 'x',
    resourceName: 'db.example.com',
    errorMessage: 'see https://example.com\nnow',
    details: {},
    ...given,
  }) as FeedRecord;

const BY_ADA = { actorType: 'USER', result: 'SUCCESS', actorEmail: 'ada@example.com' } as const;
const RESET = { ...BY_ADA, eventType: 'PASSWORD_RESET_REQUESTED' } as const;

describe('what administrators are told', () => {
  it.each([
    [{ eventType: 'CREDENTIAL_VERIFIED' }, 'The credential db. example. com is refused'],
    [{ eventType: 'CREDENTIAL_VERIFIED', result: 'SUCCESS' }, undefined],
    [{ eventType: 'CREDENTIAL_VERIFIED', actorType: 'USER' }, undefined],
    [{ eventType: 'AGENT_OFFLINE' }, 'The agent of db. example. com is away'],
    [{ eventType: 'OIDC_EXCHANGE_REFUSED', actorType: 'USER', resourceId: null }, undefined],
    [{ eventType: 'SESSION_STARTED' }, undefined],
    [
      { eventType: 'BREAK_GLASS_STARTED', result: 'SUCCESS', actorEmail: 'ada@example.com' },
      'ada@example.com opened access without approval',
    ],
    [{ eventType: 'ACCESS_REQUEST_DENIED', result: 'FAILURE' }, undefined],
    [
      { ...BY_ADA, eventType: 'IDENTITY_LINKED' },
      'ada@example.com linked a sign-in by db. example. com to your account',
    ],
    [{ eventType: 'IDENTITY_LINKED', result: 'SUCCESS' }, undefined],
    [
      { ...RESET, resourceName: 'grace@example.com' },
      'ada@example.com got a link with which a new password is set for your account',
    ],
    [{ ...RESET, resourceName: 'ada@example.com' }, undefined],
  ] as [Partial<FeedRecord>, string | undefined][])('%j is told as %s', (given, title) => {
    expect(noticeOf(record(given))?.title).toBe(title);
  });

  it.each([
    ['2000-01-01T00:00:00Z', undefined],
    ['2100-01-01T00:00:00Z', 'Your access from 203.0.113.1 ends at 2100-01-01 00:00 UTC'],
  ])('the end %s of a session is told as %s', (expiresAt, title) => {
    const details = { ipv4Address: '203.0.113.1', ipv6Address: null, expiresAt, resources: [] };
    expect(noticeOf(record({ eventType: 'SESSION_EXPIRING', details }))?.title).toBe(title);
  });

  it.each([
    ['ROLE_LOST', 'with a role that your identity provider no longer gives you'],
    ['REFUSED_BY_ISSUER', 'as your identity provider refuses your sign-in'],
    ['NOT_SIGNED_IN_AGAIN', 'as you have not signed in again with your identity provider'],
  ])('the end of access with %s is told as %s', (cause, how) => {
    const details = { cause, ipv4Address: '203.0.113.1', ipv6Address: null, reason: 'ADMIN' };
    const stopped = record({ eventType: 'SESSION_STOPPED', result: 'SUCCESS', actorEmail: null, details });
    expect(noticeOf(stopped)?.title).toBe(`Your access from 203.0.113.1 was ended ${how}`);
  });

  it.each([
    [{ reason: 'SESSION_OVER', accessEndsAt: '2000-01-01T00:00:00Z' }, null],
    [{ reason: 'SESSION_OVER', accessEndsAt: null }, null],
    [
      { reason: 'ANSWER_LOST', accessEndsAt: null },
      [
        'COLLECTED',
        null,
        'The company sign-in of db. example. com ended, as an answer of the identity provider was lost: access and API keys go on',
      ],
    ],
    [
      { reason: 'SESSION_OVER', accessEndsAt: '2100-01-01T00:00:00Z' },
      [
        'HOLDERS',
        'x',
        'Sign in again with your company: your access and your API keys end at 2100-01-01 00:00 UTC',
      ],
    ],
  ])('the end of a company sign-in with %j is told as %j', (more, told) => {
    const details = { identityProvider: 'Directory', ...more };
    const notice = noticeOf(record({ eventType: 'COMPANY_SIGN_IN_ENDED', result: 'SUCCESS', details }));
    expect(notice && [notice.kind, notice.holder, notice.title]).toEqual(told);
  });

  it('names and reasons make no links, and without PUBLIC_URL there is none', () => {
    const notice = noticeOf(record({ eventType: 'AGENT_OFFLINE' }))!;
    const { text, unsubscribe } = noticeMail('ada@example.com', 'Example.com', [notice], undefined);
    expect([text.includes('://'), text.includes('see https example.com now'), unsubscribe]).toEqual([
      false,
      true,
      undefined,
    ]);
  });

  it('of many notices one mail shows fifty', () => {
    const details = {
      ipAddress: '203.0.113.1',
      unwantedSince: '2026-01-05T09:29:00Z',
      protocol: 'tcp',
      ports: '22',
    };
    const notice = noticeOf(record({ eventType: 'RULE_REVOCATION_OVERDUE', details }))!;
    const { subject, text } = noticeMail('ada@example.com', 'Example', Array(60).fill(notice), 'https://x/');
    expect(subject).toBe('60 notices of Example');
    expect(text.split('is still open on').length - 1).toBe(50);
    expect(text).toContain('and 10 more');
  });
});
