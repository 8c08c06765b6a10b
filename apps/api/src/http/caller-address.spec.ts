import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { callerAddressOf, rememberCallerAddress } from './caller-address';

type Warning = Readonly<{ peer: string; msg: string }>;

const request = (peer: string, headers: Record<string, string>): IncomingMessage => {
  const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: peer });
  return Object.assign(new IncomingMessage(socket), { headers });
};

/** Sends one request with X-Forwarded-For from each peer. @returns the logged warnings */
const warningsOf = (trusted: readonly string[] | undefined, ...peers: string[]): Warning[] => {
  const warnings: Warning[] = [];
  const remember = rememberCallerAddress({ trustedProxies: trusted, refuseLocal: true }, (warning) =>
    warnings.push(warning),
  );
  for (const peer of peers) {
    remember(request(peer, { 'x-forwarded-for': '203.0.113.7' }), null, () => undefined);
  }
  return warnings;
};

describe('X-Forwarded-For while TRUSTED_PROXIES is unset', () => {
  it('is logged once, for the first private peer that sends it, with the setting to change', () => {
    expect(warningsOf(undefined, '127.0.0.1', '198.51.100.1', '172.18.0.1', '10.0.0.2')).toEqual([
      { peer: '172.18.0.1', msg: expect.stringContaining('set TRUSTED_PROXIES') as string },
    ]);
  });

  it('is ignored from a private peer', () => {
    const forwarded = request('10.0.0.2', { 'x-forwarded-for': '203.0.113.7', 'x-real-ip': '203.0.113.8' });
    rememberCallerAddress({ trustedProxies: undefined, refuseLocal: true }, () => undefined)(
      forwarded,
      null,
      () => undefined,
    );
    expect(callerAddressOf(forwarded)?.text).toBe('10.0.0.2');
  });

  it('is trusted from loopback', () => {
    const forwarded = request('::1', { 'x-forwarded-for': '203.0.113.7' });
    rememberCallerAddress({ trustedProxies: undefined, refuseLocal: true }, () => undefined)(
      forwarded,
      null,
      () => undefined,
    );
    expect(callerAddressOf(forwarded)?.text).toBe('203.0.113.7');
  });

  it('is not logged when TRUSTED_PROXIES is set', () => {
    expect(warningsOf(['192.0.2.1'], '10.0.0.2')).toEqual([]);
  });

  it('is not logged for a private peer that does not send it', () => {
    const warnings: Warning[] = [];
    const remember = rememberCallerAddress({ trustedProxies: undefined, refuseLocal: true }, (warning) =>
      warnings.push(warning),
    );
    remember(request('10.0.0.2', { 'x-real-ip': '203.0.113.7' }), null, () => undefined);
    expect(warnings).toEqual([]);
  });
});
