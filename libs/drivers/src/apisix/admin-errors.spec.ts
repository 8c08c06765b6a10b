import type { DriverErrorKind } from '#rules';
import { refusalOf } from './admin-errors';

const answer = (status: number, body: unknown): Parameters<typeof refusalOf>[0] => ({
  status,
  headers: {},
  text: typeof body === 'string' ? body : JSON.stringify(body),
});
const page = (title: string): string =>
  `<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<center><h1>${title}</h1></center>\r\n<hr><center>openresty</center>\r\n<p><em>Powered by <a href="https://apisix.apache.org/">APISIX</a>.</em></p></body>\r\n</html>\r\n`;
const PLUGIN = 'failed to check the configuration of plugin ip-restriction err: ';
const TOKEN = 'failed to check token';

it('a refused change shows the reason of APISIX, and no other text', () => {
  const messageOf = (error_msg: string): string =>
    refusalOf({ status: 400, headers: {}, text: JSON.stringify({ error_msg }) }).message;
  const reason =
    'failed to check the configuration of plugin ip-restriction err: property "whitelist" validation failed: expect array to have at least 1 items';
  expect(messageOf(reason)).toBe(`The gateway refuses the change as invalid: ${reason}`);
  expect(messageOf(`invalid configuration: ${'x'.repeat(1000)}`).length).toBeLessThan(300);
  expect(messageOf('secret of an internal service')).toBe('The gateway refuses the change as invalid');
});

describe('Classification of APISIX Admin API errors', () => {
  const settled: [what: string, status: number, body: unknown, kind: DriverErrorKind][] = [
    ['a missing key', 401, { error_msg: TOKEN, description: 'missing apikey' }, 'denied'],
    ['a wrong key', 401, { error_msg: TOKEN, description: 'wrong apikey' }, 'denied'],
    ['a viewer', 401, { error_msg: TOKEN, description: 'invalid method for role viewer' }, 'denied'],
    ['a refusal', 403, { error_msg: 'forbidden' }, 'denied'],
    ['allow_admin, which is nginx', 403, page('403 Forbidden'), 'denied'],
    ['an unknown object', 404, { message: 'Key not found' }, 'target-missing'],
    [
      'an empty list',
      400,
      { error_msg: `${PLUGIN}property "whitelist" validation failed: expect array to have at least 1 items` },
      'invalid',
    ],
    [
      'an odd entry',
      400,
      {
        error_msg: `${PLUGIN}property "whitelist" validation failed: failed to validate item 1: object matches none of the required`,
      },
      'invalid',
    ],
    [
      'a blacklist',
      400,
      { error_msg: `${PLUGIN}value should match only one schema, but matches both schemas 1 and 2` },
      'invalid',
    ],
    ['a plugin that is not enabled', 400, { error_msg: 'unknown plugin [ip-restriction]' }, 'invalid'],
    [
      'a long body',
      400,
      {
        error_msg:
          'invalid request body: request size 1600000 is greater than the maximum size 1572864 allowed',
      },
      'quota',
    ],
    ['a long body, to nginx', 413, page('413 Request Entity Too Large'), 'quota'],
    ['a long value, to etcd', 503, { error_msg: 'etcdserver: request is too large' }, 'quota'],
    ['another method', 405, { error_msg: 'not supported `PATCH` method' }, 'invalid'],
    ['a concurrent write', 503, { error_msg: 'value changed before overwritten' }, 'conflict'],
    ['too many calls', 429, page('429 Too Many Requests'), 'throttled'],
  ];

  it.each(settled)('classifies %s as settled: HTTP %i', (_, status, body, kind) => {
    const failure = refusalOf(answer(status, body));
    expect(failure).toMatchObject({ kind, settled: true });
    expect(failure.changeResult).toEqual({ result: 'refused', kind, message: failure.message });
  });

  it.each([
    ['unavailable etcd', 503, { error_msg: 'has no healthy etcd endpoint available' }],
    ['an internal error', 500, { error_msg: 'failed to fetch data from etcd' }],
    ['nginx without its upstream', 502, page('502 Bad Gateway')],
    ['an nginx gateway timeout', 504, page('504 Gateway Time-out')],
    ['the proxy instead of the Admin API', 404, { error_msg: '404 Route Not Found' }],
    ['another server', 404, page('404 Not Found')],
    ['another server that refuses', 403, '<html><body>Forbidden</body></html>'],
    ['HTTP 401 without an APISIX body', 401, 'Unauthorized'],
    ['a login page', 200, '<html></html>'],
    ['an error in a success', 200, { error_msg: TOKEN }],
    ['truncated JSON', 400, '{"error_msg":"fail'],
    ['an empty body', 400, ''],
    ['a list', 400, []],
    ['null', 404, 'null'],
    ['a message that is not text', 404, { message: { text: 'Key not found' } }],
    ['a redirect', 302, ''],
    ['an unknown status', 418, { error: 'teapot' }],
  ])('treats %s as an unexpected response with unknown outcome', (_, status, body) => {
    const failure = refusalOf(answer(status, body));
    expect(failure).toMatchObject({ kind: 'transient', settled: false });
    expect(failure.changeResult).toEqual({ result: 'unknown', message: failure.message });
  });

  it('uses one message for every response that is not from APISIX', () => {
    const texts = [
      answer(200, 'x'),
      answer(302, ''),
      answer(404, page('404 Not Found')),
      answer(502, 'y'),
    ].map((one) => refusalOf(one).message);
    expect(new Set(texts).size).toBe(1);
  });

  it.each(settled)('does not quote the response: %s', (_, status, body) => {
    const marked = JSON.parse(
      JSON.stringify(body).replace(/"error_msg":"/, '"error_msg":"canary '),
    ) as unknown;
    const { message } = refusalOf(answer(status, marked));
    expect(message).not.toContain('canary');
    expect(message).not.toMatch(/html|ip-restriction err|apikey/);
  });
});
