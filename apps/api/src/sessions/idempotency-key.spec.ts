import { requestHash } from './idempotency-key';

const REQUEST = {
  durationHours: 2,
  ipv4Address: '203.0.113.7',
  ipv6Address: '2001:db8::7',
  resourceIds: ['3fa85f64-5717-4562-b3fc-2c963f66afa6'],
  holder: 'job-1',
};

describe('requestHash', () => {
  it('does not depend on the order of the JSON fields', () => {
    expect(requestHash(Object.fromEntries(Object.entries(REQUEST).toReversed()))).toBe(requestHash(REQUEST));
  });

  it.each([
    ['durationHours', 3],
    ['ipv4Address', '203.0.113.8'],
    ['ipv6Address', '2001:db8::8'],
    ['resourceIds', []],
    ['holder', 'job-2'],
  ])('changes when %s changes or is missing', (field, value) => {
    expect(requestHash({ ...REQUEST, [field]: value })).not.toBe(requestHash(REQUEST));
    expect(requestHash({ ...REQUEST, [field]: undefined })).not.toBe(requestHash(REQUEST));
  });
});
