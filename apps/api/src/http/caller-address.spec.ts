import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { callerAddressOf, rememberCallerAddress } from './caller-address';

type Warning = Readonly<{ peer: string; msg: string }>;

const request = (peer: string, headers: Record<string, string>): IncomingMessage => {
  const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: peer });
  return Object.assign(new IncomingMessage(socket), { headers });
};

describe('X-Forwarded-For while TRUSTED_PROXIES is unset', () => {
  /** @returns the callers of one request from each peer, and the logged warnings */
  const callersOf = (
    peers: readonly string[],
    { trustedProxies = undefined as string[] | undefined, header = 'x-forwarded-for' } = {},
  ): { callers: (string | undefined)[]; warnings: Warning[] } => {
    const warnings: Warning[] = [];
    const settings = { trustedProxies, refuseLocal: true };
    const remember = rememberCallerAddress(settings, (warning) => warnings.push(warning));
    const callers = peers.map((peer) => {
      const asked = request(peer, { [header]: '203.0.113.7' });
      remember(asked, null, () => undefined);
      return callerAddressOf(asked)?.text;
    });
    return { callers, warnings };
  };

  it('is trusted from loopback, and logged once, for the first private peer that sends it, with the setting to change', () => {
    const { callers, warnings } = callersOf(['::1', '198.51.100.1', '172.18.0.1', '10.0.0.2']);
    expect(callers).toEqual(['203.0.113.7', '198.51.100.1', '172.18.0.1', '10.0.0.2']);
    expect(warnings).toEqual([
      { peer: '172.18.0.1', msg: expect.stringContaining('set TRUSTED_PROXIES') as string },
    ]);
  });

  it('is not logged when TRUSTED_PROXIES is set, nor when another header is sent', () => {
    expect(callersOf(['10.0.0.2'], { trustedProxies: ['192.0.2.1'] }).warnings).toEqual([]);
    expect(callersOf(['10.0.0.2'], { header: 'x-real-ip' })).toEqual({ callers: ['10.0.0.2'], warnings: [] });
  });
});
