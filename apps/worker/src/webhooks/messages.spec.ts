import type { FeedRecord } from '#tenant-store';
import { bodyOf } from './messages';

const SESSION = '6c5f2a7e-2a43-4b0e-9a53-0d8c2f7f7c11';
const started: FeedRecord = {
  id: '0f0e6b9c-4a3c-4a37-9d5e-6a0d6a3c9b10',
  eventType: 'SESSION_STARTED',
  timestamp: '2026-01-05T09:30:00.000Z',
  actorType: 'USER',
  actorId: SESSION,
  actorEmail: 'ada@example.com',
  resourceType: 'SESSION',
  resourceId: SESSION,
  resourceName: 'ada@example.com',
  result: 'SUCCESS',
  ipAddress: null,
  errorMessage: null,
  details: { durationHours: 2, resources: 'abcdefg'.split('').map((name) => ({ name })) },
};
const overdue: FeedRecord = {
  ...started,
  eventType: 'RULE_REVOCATION_OVERDUE',
  actorType: 'SYSTEM',
  actorEmail: null,
  resourceType: 'RESOURCE',
  resourceName: 'database',
  result: 'FAILURE',
  errorMessage: 'AccessDenied',
  details: {},
};
interface SlackBody {
  readonly text: string;
  readonly blocks: readonly { readonly text: { readonly type: string; readonly text: string } }[];
}
const slackBody = (record: FeedRecord, publicUrl?: string): SlackBody =>
  JSON.parse(bodyOf('slack', record, publicUrl)) as SlackBody;
/** The blocks, one on a line. */
const slack = (record: FeedRecord, publicUrl?: string): string =>
  slackBody(record, publicUrl)
    .blocks.map(({ text }) => text.text)
    .join('\n');

describe('A message about a record', () => {
  it('says who, what, which resources and until when, with a link to the session', () => {
    expect(slack(started, 'https://drawbridge.example.com/').split('\n')).toEqual([
      '*Session started*',
      'by ada@example.com · a, b, c, d, e and 2 more · until 2026-01-05 11:30 UTC',
      `<https://drawbridge.example.com/sessions/${SESSION}|Open in Drawbridge>`,
    ]);
  });

  it('says who decided for whom, and with which note', () => {
    const details = { ...started.details, note: 'Not today' };
    const denied = { ...started, eventType: 'ACCESS_REQUEST_DENIED', actorEmail: 'bo@example.com', details };
    expect(slack({ ...denied, resourceName: 'ada@example.com' } as FeedRecord).split('\n')[1]).toBe(
      'by bo@example.com · for ada@example.com · a, b, c, d, e and 2 more · Not today',
    );
  });

  it('makes no link, mention or bold letter of what people wrote in Slack', () => {
    const reason = 'see https://evil.example/login and *urgent* <!channel>';
    const { text, blocks } = slackBody({ ...started, details: { reason } });
    expect(blocks[1]!.text).toEqual({
      type: 'plain_text',
      text: 'by ada@example.com · ada@example.com · see https evil.example/login and *urgent* <!channel>',
    });
    expect(text).toContain('see https evil.example/login and  urgent  &lt;!channel&gt;');
  });

  it('says why something failed, or what ended access', () => {
    expect(slack(overdue).split('\n')).toEqual([
      '*Rule revocation overdue: failed*',
      'by Drawbridge · database · AccessDenied',
    ]);
    const details = { reason: 'ADMIN', cause: 'ROLE_LOST' };
    const ended = { ...overdue, eventType: 'SESSION_STOPPED', errorMessage: null, details } as FeedRecord;
    expect(slack(ended)).toContain('by Drawbridge · database · Role lost');
  });
});
