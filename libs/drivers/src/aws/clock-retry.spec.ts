import { duringTests, thrown } from '../scripted-server.testing';
import { listed, refusal, rule, ScriptedEndpoint, target } from './aws.driver.testing';

const AHEAD_MS = 600_000;

/** `20261121T103000Z` as milliseconds. */
const readAmzDate = (text: string): number =>
  Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));

describe('AWS calls with a clock that is ten minutes slow', () => {
  const endpoint = duringTests(new ScriptedEndpoint());

  /** @param answer to a call that was signed at a time */
  const answering = (answer: (signedMs: number) => { status: number; body: string }): void => {
    endpoint.respond = ({ headers }, response) => {
      const { status, body } = answer(readAmzDate(String(headers['x-amz-date'])));
      response.writeHead(status, { date: new Date(Date.now() + AHEAD_MS).toUTCString() }).end(body);
    };
  };
  const read = (): Promise<unknown> => endpoint.newDriver().readRules(target());

  it('are retried once with the corrected time', async () => {
    answering((signedMs) =>
      Math.abs(signedMs - Date.now() - AHEAD_MS) < 60_000
        ? { status: 200, body: listed([rule('sgr-1', '203.0.113.1/32')]) }
        : refusal(400, 'RequestExpired'),
    );
    await read();
    expect(endpoint.calls).toHaveLength(2);
  });

  it.each([
    ['a second time', refusal(400, 'RequestExpired'), 2],
    ['after a server error, whose outcome is unknown', refusal(500, 'InternalError'), 1],
  ])('are not retried %s', async (_, answer, calls) => {
    answering(() => answer);
    expect((await thrown(read())).kind).toBe('transient');
    expect(endpoint.calls).toHaveLength(calls);
  });
});
