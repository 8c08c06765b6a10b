import { CallFailure } from './call-failure';
import { requestJson, type Refusal } from './request-json';
import { duringTests, ScriptedServer } from './scripted-server.testing';

describe('A JSON request', () => {
  const server = duringTests(new ScriptedServer(() => undefined));
  let refusals: Refusal[];

  beforeEach(() => {
    refusals = [];
  });

  const send = (timeoutMs = 5000): Promise<unknown> => {
    const refusalOf = (refusal: Refusal): CallFailure => {
      refusals.push(refusal);
      return new CallFailure('invalid', 'refused', null, true);
    };
    const call = { operation: 'a read', url: server.url, secrets: [] };
    return requestJson({ cloud: 'Cloud', refusalOf }, call, timeoutMs);
  };

  it('returns the object and its text', async () => {
    server.respond = (_call, response) => response.end('{"a": 1}');
    expect(await send()).toMatchObject({ status: 200, body: { a: 1 }, text: '{"a": 1}' });
  });

  it.each([
    ['an HTML page', '<html></html>'],
    ['a list', '[]'],
    ['null', 'null'],
    ['nothing', ''],
    ['half of an object', '{"a": '],
    ['an object of 9 MB', JSON.stringify({ a: 'x'.repeat(9_000_000) })],
  ])('has an unknown outcome when it is answered with %s', async (_, text) => {
    server.respond = (_call, response) => response.end(text);
    const message = 'Unexpected response from Cloud to a read';
    await expect(send()).rejects.toMatchObject({ kind: 'transient', settled: false, message });
  });

  it.each([
    [302, '', undefined],
    [403, '{"error":1}', { error: 1 }],
    [502, '<html></html>', undefined],
  ])('is refused by HTTP %i, as the cloud classifies it', async (status, text, body) => {
    server.respond = (_call, response) =>
      response.writeHead(status, { location: 'http://127.0.0.1:1/', 'retry-after': '7' }).end(text);
    await expect(send()).rejects.toMatchObject({ message: 'refused' });
    expect(refusals).toMatchObject([{ status, body }]);
    expect(refusals[0]!.header('retry-after')).toBe('7');
  });

  it('has an unknown outcome when the answer does not come, or not completely, in time', async () => {
    server.respond = () => undefined;
    await expect(send(30)).rejects.toMatchObject({ kind: 'transient', settled: false });
    server.respond = (_call, response) => void response.write('{"a"');
    await expect(send(30)).rejects.toMatchObject({ kind: 'transient', settled: false });
  });
});
