import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { callerAddressOf, rememberCallerAddress } from './caller-address';

type Warning = Readonly<{ peer: string; msg: string }>;

const request = (peer: string, headers: Record<string, string>): IncomingMessage => {
  const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: peer });
  return Object.assign(new IncomingMessage(socket), { headers });
};

/** Sends requests of these peers, each with X-Forwarded-For. @returns what is logged */
const warningsOf = (trusted: readonly string[] | undefined, ...peers: string[]): Warning[] => {
  const warnings: Warning[] = [];
  const remember = rememberCallerAddress(trusted, (warning) => warnings.push(warning));
  for (const peer of peers) {
    remember(request(peer, { 'x-forwarded-for': '203.0.113.7' }), null, () => undefined);
  }
  return warnings;
};

describe('X-Forwarded-For while TRUSTED_PROXIES is unset', () => {
  it('is logged once, for the first private peer that sends it, with what to set', () => {
    expect(warningsOf(undefined, '127.0.0.1', '198.51.100.1', '172.18.0.1', '10.0.0.2')).toEqual([
      { peer: '172.18.0.1', msg: expect.stringContaining('set TRUSTED_PROXIES') as string },
    ]);
  });

  it('of a private peer is ignored', () => {
    const asked = request('10.0.0.2', { 'x-forwarded-for': '203.0.113.7', 'x-real-ip': '203.0.113.8' });
    rememberCallerAddress(undefined, () => undefined)(asked, null, () => undefined);
    expect(callerAddressOf(asked)?.text).toBe('10.0.0.2');
  });

  it('of loopback is trusted', () => {
    const asked = request('::1', { 'x-forwarded-for': '203.0.113.7' });
    rememberCallerAddress(undefined, () => undefined)(asked, null, () => undefined);
    expect(callerAddressOf(asked)?.text).toBe('203.0.113.7');
  });

  it('is not logged once proxies are named', () => {
    expect(warningsOf(['192.0.2.1'], '10.0.0.2')).toEqual([]);
  });

  it('is not logged for a private peer that sends none', () => {
    const warnings: Warning[] = [];
    const remember = rememberCallerAddress(undefined, (warning) => warnings.push(warning));
    remember(request('10.0.0.2', { 'x-real-ip': '203.0.113.7' }), null, () => undefined);
    expect(warnings).toEqual([]);
  });
});
