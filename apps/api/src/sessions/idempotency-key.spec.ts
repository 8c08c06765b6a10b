import { requestHash } from './idempotency-key';

const ASKED = {
  durationHours: 2,
  ipv4Address: '203.0.113.7',
  ipv6Address: '2001:db8::7',
  resourceIds: ['3fa85f64-5717-4562-b3fc-2c963f66afa6'],
  holder: 'job-1',
};

describe('What an Idempotency-Key stands for', () => {
  it('is the same request, however its JSON was written', () => {
    expect(requestHash(Object.fromEntries(Object.entries(ASKED).toReversed()))).toBe(requestHash(ASKED));
  });

  it.each([
    ['durationHours', 3],
    ['ipv4Address', '203.0.113.8'],
    ['ipv6Address', '2001:db8::8'],
    ['resourceIds', []],
    ['holder', 'job-2'],
  ])('is another request with another %s', (field, value) => {
    expect(requestHash({ ...ASKED, [field]: value })).not.toBe(requestHash(ASKED));
    expect(requestHash({ ...ASKED, [field]: undefined })).not.toBe(requestHash(ASKED));
  });
});
