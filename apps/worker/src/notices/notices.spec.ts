import type { ToldRecord } from '#tenant-store';
import { noticeMail } from './notice-text';
import { collectedNotice, urgentNotice } from './notices';

const record = (given: Partial<ToldRecord>): ToldRecord =>
  ({
    timestamp: '2026-01-05T09:30:00.000Z',
    actorType: 'SYSTEM',
    result: 'FAILURE',
    resourceId: 'x',
    resourceName: 'db.example.com',
    errorMessage: 'see https://example.com\nnow',
    details: {},
    ...given,
  }) as ToldRecord;

describe('what administrators are told', () => {
  it.each([
    [{ eventType: 'CREDENTIAL_VERIFIED' }, 'The credential db. example. com is refused'],
    [{ eventType: 'CREDENTIAL_VERIFIED', result: 'SUCCESS' }, undefined],
    [{ eventType: 'CREDENTIAL_VERIFIED', actorType: 'USER' }, undefined],
    [{ eventType: 'AGENT_OFFLINE' }, 'The agent of db. example. com is away'],
    [{ eventType: 'RULE_REVOCATION_OVERDUE' }, undefined],
    [{ eventType: 'SESSION_STARTED' }, undefined],
  ] as [Partial<ToldRecord>, string | undefined][])('%j is collected as %s', (given, title) => {
    expect(collectedNotice(record(given))?.title).toBe(title);
  });

  it('names and reasons make no links, and without PUBLIC_URL there is none', () => {
    const notice = collectedNotice(record({ eventType: 'AGENT_OFFLINE' }))!;
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
    const notice = urgentNotice(record({ eventType: 'RULE_REVOCATION_OVERDUE', details }))!;
    const { subject, text } = noticeMail('ada@example.com', 'Example', Array(60).fill(notice), 'https://x/');
    expect(subject).toBe('60 notices of Example');
    expect(text.split('is still open on').length - 1).toBe(50);
    expect(text).toContain('and 10 more');
  });
});
