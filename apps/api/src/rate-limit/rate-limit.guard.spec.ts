import { EventEmitter } from 'node:events';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { Reflector } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { ApiSettings } from '../api.settings';
import { rememberCallerAddress } from '../http/caller-address';
import { FixedWindows } from './fixed-windows';
import { CountedAs, Uncounted } from './rate-limit.decorators';
import { RateLimitGuard } from './rate-limit.guard';
import { rateLimits } from './rate-limit.module';

class Routes {
  list(): void {}
  other(): void {}
  @Uncounted() health(): void {}
  @CountedAs(['password', 'registration']) register(): void {}
}

/** What the guard touches of an answer. */
class Answer extends EventEmitter {
  statusCode = 200;
  readonly headers: Record<string, unknown> = {};

  setHeader(name: string, value: unknown): void {
    this.headers[name] = value;
  }

  finish(statusCode: number): void {
    this.statusCode = statusCode;
    this.emit('finish');
  }
}

type Settings = Pick<ApiSettings, 'RATE_LIMIT_PER_MINUTE' | 'EMBEDDED'>;

class Door {
  now = 1_000_000;
  readonly windows = new FixedWindows(() => this.now);
  private readonly remember = rememberCallerAddress(['10.0.0.0/8'], () => undefined);

  private constructor(private readonly guard: RateLimitGuard) {}

  static async of(settings: Partial<Settings> = {}): Promise<Door> {
    const options = rateLimits(Object.assign(new ApiSettings(), { RATE_LIMIT_PER_MINUTE: 9 }, settings));
    const door: Door = new Door(
      new RateLimitGuard(options, new FixedWindows(() => door.now), new Reflector()),
    );
    await door.guard.onModuleInit();
    return door;
  }

  async knock(
    handler: () => void,
    address = '203.0.113.7',
    status = 200,
  ): Promise<Answer & { refused?: unknown }> {
    const asked = new IncomingMessage(
      Object.defineProperty(new Socket(), 'remoteAddress', { value: '10.0.0.1' }),
    );
    asked.headers = { 'x-forwarded-for': address };
    const answer: Answer & { refused?: unknown } = new Answer();
    this.remember(asked, answer, () => undefined);
    try {
      await this.guard.canActivate(new ExecutionContextHost([asked, answer], Routes, handler));
      answer.finish(status);
    } catch (error) {
      answer.refused = error;
      answer.finish(429);
    }
    return answer;
  }
}

const routes = Routes.prototype;

/* eslint-disable typescript/unbound-method -- handlers are only looked up, never called */
describe('RateLimitGuard', () => {
  it('counts one client over all routes, and tells on every answer', async () => {
    const door = await Door.of();
    expect((await door.knock(routes.list)).headers).toEqual({
      'X-RateLimit-Limit': 9,
      'X-RateLimit-Remaining': 8,
      'X-RateLimit-Reset': 60,
    });
    expect((await door.knock(routes.other)).headers['X-RateLimit-Remaining']).toBe(7);
    expect((await door.knock(routes.list, '203.0.113.8')).headers['X-RateLimit-Remaining']).toBe(8);
  });

  it('refuses what is too much until the window ends', async () => {
    const door = await Door.of();
    for (let count = 0; count < 9; count += 1)
      expect((await door.knock(routes.list)).refused).toBeUndefined();
    door.now += 20_000;
    const refused = await door.knock(routes.list);
    expect(refused.refused).toMatchObject({ status: 429, extras: { headers: { 'Retry-After': '40' } } });
    expect(refused.headers).toEqual({
      'X-RateLimit-Limit': 9,
      'X-RateLimit-Remaining': 0,
      'X-RateLimit-Reset': 40,
    });
    door.now += 40_000;
    expect((await door.knock(routes.list)).headers['X-RateLimit-Remaining']).toBe(8);
  });

  it('counts an IPv6 client by its /64', async () => {
    const door = await Door.of();
    await door.knock(routes.list, '2001:db8:1:2::1');
    const neighbour = await door.knock(routes.list, '2001:db8:1:2:ffff::9');
    expect(neighbour.headers['X-RateLimit-Remaining']).toBe(7);
    const stranger = await door.knock(routes.list, '2001:db8:1:3::1');
    expect(stranger.headers['X-RateLimit-Remaining']).toBe(8);
  });

  it('does not count health', async () => {
    const door = await Door.of();
    expect((await door.knock(routes.health)).headers).toEqual({});
    expect((await door.knock(routes.list)).headers['X-RateLimit-Remaining']).toBe(8);
  });

  it('allows a third of the requests where passwords are tried', async () => {
    const door = await Door.of();
    for (let count = 0; count < 3; count += 1) await door.knock(routes.register, undefined, 400);
    const refused = await door.knock(routes.register);
    expect(refused.refused).toMatchObject({ status: 429 });
    expect(refused.headers['X-RateLimit-Limit']).toBe(3);
    expect((await door.knock(routes.list)).refused).toBeUndefined();
  });

  it('allows five registrations an hour, not counting failed ones, and any number when embedded', async () => {
    const door = await Door.of({ RATE_LIMIT_PER_MINUTE: 1000 });
    for (let count = 0; count < 8; count += 1) await door.knock(routes.register, undefined, 400);
    for (let count = 0; count < 5; count += 1) {
      expect((await door.knock(routes.register, undefined, 201)).refused).toBeUndefined();
    }
    expect((await door.knock(routes.register)).refused).toMatchObject({ status: 429 });
    door.now += 3_600_000;
    expect((await door.knock(routes.register)).refused).toBeUndefined();

    const embedded = await Door.of({ RATE_LIMIT_PER_MINUTE: 1000, EMBEDDED: true });
    for (let count = 0; count < 20; count += 1) {
      expect((await embedded.knock(routes.register, undefined, 201)).refused).toBeUndefined();
    }
  });
});

describe('FixedWindows', () => {
  it('forgets clients whose window is over', async () => {
    let now = 0;
    const windows = new FixedWindows(() => now);
    for (let client = 0; client < 100; client += 1) await windows.increment(`client ${client}`, 60_000, 5);
    expect(windows.size).toBe(100);
    now = 60_000;
    await windows.increment('another', 60_000, 5);
    expect(windows.size).toBe(1);
  });
});
