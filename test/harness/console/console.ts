import type { BrowserContext } from 'playwright-core';
import { TestBrowser, type Visitor, ZONE } from './browser';
import { PASSWORD } from '../../builders/accounts/people';
import type { Drawbridge } from '../product/drawbridge';

/**
 * A time as the console writes it into a sentence, as a pattern: the clock, after the day when that is another one than today,
 * which it may become during a run.
 * @param before of the sentence, as a pattern
 * @param at as the API writes it
 */
export function saysTime(before: string, at: string | null): RegExp {
  const shown = (options: Intl.DateTimeFormatOptions): string =>
    new Intl.DateTimeFormat('en-GB', { ...options, timeZone: ZONE }).format(new Date(at!));
  const day = shown({ day: 'numeric', month: 'short' });
  return new RegExp(`${before} (?:${day}(?: \\d{4})?, )?${shown({ hour: '2-digit', minute: '2-digit' })}\\b`);
}

interface Account {
  readonly email: string;
  /** of accounts as builders make them when left out */
  readonly password?: string;
}

/** The console of a running product, in a browser. */
export class TestConsole {
  private constructor(
    private readonly drawbridge: Drawbridge,
    private readonly browser: TestBrowser,
  ) {}

  /** For the tests of a file or of a `describe`. */
  static of(drawbridge: Drawbridge): TestConsole {
    return new TestConsole(drawbridge, TestBrowser.own());
  }

  static in(browser: TestBrowser, drawbridge: Drawbridge): TestConsole {
    return new TestConsole(drawbridge, browser);
  }

  /** with host, without a slash at its end */
  get origin(): string {
    return `http://localhost:${this.drawbridge.apiServer.port}`;
  }

  url(path: string): string {
    return this.origin + path;
  }

  /** Somebody who has not signed in. @param path opened at once */
  async stranger(path?: string): Promise<Visitor> {
    const visitor = await this.browser.visitor({ baseURL: this.origin });
    if (path !== undefined) await visitor.goto(path);
    return visitor;
  }

  /** Somebody who signed in before: the cookie is there. @param path opened at once; left out: no screen is open yet */
  async signedIn({ email, password = PASSWORD }: Account, path?: string): Promise<Visitor> {
    const login = { email, password, refreshTokenIn: 'cookie' };
    const { headers } = await this.drawbridge.api.post('/auth/login', login);
    const [, name, value] = /^([^=]+)=([^;]+)/.exec(headers.get('set-cookie') ?? '') ?? [];
    if (name === undefined || value === undefined) throw new Error('The sign-in set no cookie');
    const { hostname: domain } = new URL(this.origin);
    const kept = { expires: -1, httpOnly: true, secure: false, sameSite: 'Strict' } as const;
    const visitor = await this.browser.visitor({
      baseURL: this.origin,
      storageState: {
        cookies: [{ name, value, domain, path: '/', ...kept }],
        // what the console keeps beside the cookie
        origins: [{ origin: this.origin, localStorage: [{ name: 'drawbridge-signed-in', value: 'yes' }] }],
      },
    });
    if (path !== undefined) await visitor.goto(path);
    return visitor;
  }
}

/** Adds to the console's script as it is served, for a planted bug. */
export async function plant(context: BrowserContext, code: string): Promise<void> {
  await context.route(/\/assets\/index-[^/]+\.js$/, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, body: `${await response.text()}\n;${code}` });
  });
}
