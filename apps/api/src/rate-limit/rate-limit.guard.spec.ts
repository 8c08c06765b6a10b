import { EventEmitter } from 'node:events';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { Delete } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { ApiSettings } from '../api.settings';
import { Public, SignedIn } from '#guards';
import { rememberCallerAddress } from '../http/caller-address';
import { FixedWindows } from './fixed-windows';
import { CREDENTIAL_REFUSED } from '../http/send-error-response';
import { Uncounted } from './rate-limit.decorators';
import { RateLimitGuard } from './rate-limit.guard';
import { rateLimits } from './rate-limit.module';

class Routes {
  list(): void {}
  @Public() @Uncounted() health(): void {}
  @Public() signIn(): void {}
  @SignedIn({ scope: 'sessions:write' }) @Uncounted() stop(): void {}
  @Delete(':id') remove(): void {}
}

/** The part of a response that the guard uses. */
class FakeResponse extends EventEmitter {
  statusCode = 200;
  readonly headers: Record<string, unknown> = {};

  setHeader(name: string, value: unknown): void {
    this.headers[name] = value;
  }

  finish(statusCode: number): void {
    this.statusCode = statusCode;
    if (statusCode === 401) this.emit(CREDENTIAL_REFUSED);
    this.emit('finish');
  }
}

class GuardHarness {
  now = 1_000_000;
  readonly windows = new FixedWindows(() => this.now);
  private readonly remember = rememberCallerAddress(
    { trustedProxies: ['10.0.0.0/8'], refuseLocal: false },
    () => undefined,
  );

  private constructor(private readonly guard: RateLimitGuard) {}

  static async make(): Promise<GuardHarness> {
    const settings = Object.assign(new ApiSettings(), { RATE_LIMIT_PER_MINUTE: 9 });
    const options = rateLimits(settings, { value: 'test' });
    const harness: GuardHarness = new GuardHarness(
      new RateLimitGuard(options, new FixedWindows(() => harness.now), new Reflector()),
    );
    await harness.guard.onModuleInit();
    return harness;
  }

  async request(
    handler: () => void,
    address = '203.0.113.7',
    status = 200,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<FakeResponse & { refused?: unknown }> {
    const request = new IncomingMessage(
      Object.defineProperty(new Socket(), 'remoteAddress', { value: '10.0.0.1' }),
    );
    request.headers = { 'x-forwarded-for': address, ...headers };
    const response: FakeResponse & { refused?: unknown } = new FakeResponse();
    this.remember(request, response, () => undefined);
    try {
      await this.guard.canActivate(new ExecutionContextHost([request, response], Routes, handler));
      response.finish(status);
    } catch (error) {
      response.refused = error;
      response.finish(429);
    }
    return response;
  }
}

const routes = Routes.prototype;

/* eslint-disable typescript/unbound-method -- handlers are only looked up, never called */
describe('RateLimitGuard', () => {
  it('refuses requests over the limit until the window ends', async () => {
    const harness = await GuardHarness.make();
    for (let count = 0; count < 9; count += 1)
      expect((await harness.request(routes.list)).refused).toBeUndefined();
    harness.now += 20_000;
    const refused = await harness.request(routes.list);
    expect(refused.refused).toMatchObject({ status: 429, extras: { headers: { 'Retry-After': '40' } } });
    expect(refused.headers).toEqual({
      'X-RateLimit-Limit': 9,
      'X-RateLimit-Remaining': 0,
      'X-RateLimit-Reset': 40,
    });
    harness.now += 40_000;
    expect((await harness.request(routes.list)).headers['X-RateLimit-Remaining']).toBe(8);
  });

  const withKey = (key: string): Record<string, string> => ({ 'x-api-key': key });
  const remaining = async (
    harness: GuardHarness,
    headers: Readonly<Record<string, string>>,
    handler = routes.list,
  ): Promise<unknown> =>
    (await harness.request(handler, undefined, 200, headers)).headers['X-RateLimit-Remaining'];

  it('counts callers behind one address by credential, sessions by token, and what needs no credential by address', async () => {
    const harness = await GuardHarness.make();
    for (const left of [8, 7]) {
      for (const credential of [withKey('one'), withKey('two'), { authorization: 'Bearer three' }, {}])
        expect(await remaining(harness, credential)).toBe(left);
    }
    const session = { authorization: 'Session four' };
    expect(await remaining(harness, session)).toBe(8);
    const moved = await harness.request(routes.list, '203.0.113.8', 200, session);
    expect(moved.headers['X-RateLimit-Remaining']).toBe(7);
    expect(await remaining(harness, withKey('made up'), routes.signIn)).toBe(6);
    expect(await remaining(harness, withKey('another'), routes.signIn)).toBe(5);
  });

  it('counts the console of a person apart, with ten times the limit; not a key that calls itself one', async () => {
    const harness = await GuardHarness.make();
    const screen = { 'x-drawbridge-console': '1' };
    expect(await remaining(harness, { authorization: 'Bearer one' })).toBe(8);
    for (const left of [89, 88])
      expect(await remaining(harness, { authorization: 'Bearer one', ...screen })).toBe(left);
    expect(await remaining(harness, { ...withKey('two'), ...screen })).toBe(8);
    expect(await remaining(harness, { authorization: 'Bearer one' })).toBe(7);
  });

  it('counts the access tokens of one sign-in together, so that a refresh gives no new count', async () => {
    const harness = await GuardHarness.make();
    const token = (sid: string, iat: number): Record<string, string> => ({
      authorization: `Bearer x.${Buffer.from(JSON.stringify({ sid, iat })).toString('base64url')}.y`,
    });
    expect(await remaining(harness, token('one', 1))).toBe(8);
    expect(await remaining(harness, token('one', 2))).toBe(7);
    expect(await remaining(harness, token('two', 2))).toBe(8);
  });

  it('counts neither DELETE nor what closes, and refuses an address that guesses credentials, there at ten times as many', async () => {
    const harness = await GuardHarness.make();
    for (const handler of [routes.remove, routes.stop])
      for (let count = 0; count < 20; count += 1)
        expect(await harness.request(handler, undefined, 200, withKey('one'))).toMatchObject({ headers: {} });
    const guess = (handler: () => void, count: number): ReturnType<GuardHarness['request']> =>
      harness.request(handler, undefined, 401, withKey(`guess ${count}`));
    for (let count = 0; count < 9; count += 1)
      expect((await guess(routes.list, count)).refused).toBeUndefined();
    expect((await guess(routes.list, 9)).refused).toMatchObject({ status: 429 });
    for (let count = 9; count < 90; count += 1)
      expect((await guess(routes.stop, count)).refused).toBeUndefined();
    expect((await guess(routes.stop, 90)).refused).toMatchObject({ status: 429 });
    expect((await harness.request(routes.list, '203.0.113.8', 200, withKey('one'))).refused).toBeUndefined();
  });

  it('counts routes that are not counted only far beyond what they are for', async () => {
    const harness = await GuardHarness.make();
    for (let count = 0; count < 600; count += 1)
      expect(await harness.request(routes.health)).toMatchObject({ headers: {} });
    expect((await harness.request(routes.health)).refused).toMatchObject({ status: 429 });
    expect((await harness.request(routes.health, '203.0.113.8')).refused).toBeUndefined();
    expect((await harness.request(routes.stop, undefined, 200, withKey('one'))).refused).toBeUndefined();
    expect((await harness.request(routes.list)).headers['X-RateLimit-Remaining']).toBe(8);
  });
});

describe('FixedWindows', () => {
  it('forgets clients whose window has ended', async () => {
    let now = 0;
    const windows = new FixedWindows(() => now);
    for (let client = 0; client < 100; client += 1) await windows.increment(`client ${client}`, 60_000, 5);
    expect(windows.size).toBe(100);
    now = 60_000;
    await windows.increment('another', 60_000, 5);
    expect(windows.size).toBe(1);
  });
});
