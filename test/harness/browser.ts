import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { neededInCi } from './needed-in-ci';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const MAC = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';

function findChromium(): string | null {
  const { CHROMIUM_PATH, PATH = '' } = process.env;
  if (CHROMIUM_PATH !== undefined) return CHROMIUM_PATH;
  const named = PATH.split(delimiter).flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return [...named, MAC].find((path) => existsSync(path)) ?? null;
}

const chromiumPath = findChromium();

/** Whether there is a browser. Without it, the stories of the console report that they were skipped. */
export const hasChromium = neededInCi('chromium', chromiumPath !== null);

/** For suites that need a browser. */
export const describeInBrowser = hasChromium ? describe : describe.skip;

if (!hasChromium)
  process.stderr.write(
    'No Chromium is here (CHROMIUM_PATH names one): the console is not tested in a browser\n',
  );

/** What a page does that no page of the console may do. */
const TELL_OF_VIOLATIONS = `document.addEventListener('securitypolicyviolation', (event) =>
  console.error('Refused by the policy: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample))`;

/** A browser for the tests of a file. Each person has an own profile in it. */
export class TestBrowser {
  private browser!: Browser;
  private readonly open = new Set<BrowserContext>();

  static own(): TestBrowser {
    const browser = new TestBrowser();
    beforeAll(async () => {
      // as slow to load as a browser to start: only where it is used
      const { chromium } = await import('playwright-core');
      const isRoot = process.getuid?.() === 0;
      browser.browser = await chromium.launch({
        executablePath: chromiumPath!,
        args: isRoot ? ['--no-sandbox'] : [],
      });
    });
    afterEach(() => browser.closeProfiles());
    afterAll(() => browser.browser.close());
    return browser;
  }

  /** Closes what the test has opened. */
  private async closeProfiles(): Promise<void> {
    const contexts = [...this.open];
    this.open.clear();
    await Promise.all(contexts.map((context) => context.close()));
  }

  /** A profile of its own: cookies, storage, and a first tab. */
  async visitor(options: BrowserContextOptions = {}): Promise<Visitor> {
    const context = await this.browser.newContext({
      reducedMotion: 'reduce',
      locale: 'en-GB',
      timezoneId: 'Europe/Berlin',
      ...options,
    });
    this.open.add(context);
    context.setDefaultTimeout(20_000);
    await context.addInitScript(TELL_OF_VIOLATIONS);
    return new Visitor(context, await context.newPage());
  }
}

/** Somebody in front of a browser: one profile, and what its pages complained of. */
export class Visitor {
  /** errors of scripts and of the console, and reports of the policy, since the start or `forget` */
  readonly complaints: string[] = [];
  /** how often the pointer was pressed */
  clicks = 0;
  private readonly pending = new Set<object>();
  private lastAnswer = 0;

  constructor(
    readonly context: BrowserContext,
    readonly page: Page,
  ) {
    context.on('console', (message) => {
      if (message.type() === 'error') this.complaints.push(`${message.text()} (${message.location().url})`);
    });
    context.on('weberror', (error) => this.complaints.push(error.error().message));
    page.on('request', (request) => this.pending.add(request));
    for (const end of ['requestfinished', 'requestfailed'] as const)
      page.on(end, (request) => {
        this.pending.delete(request);
        this.lastAnswer = performance.now();
      });
  }

  forget(): void {
    this.complaints.length = 0;
  }

  /** Opens an address and waits until the screen has what it asked for. */
  async goto(url: string): Promise<void> {
    await this.page.goto(url);
    await this.settled();
  }

  /** Waits until there is a heading, and no request has been under way for a moment. */
  async settled(): Promise<void> {
    await this.page.locator('h1').first().waitFor();
    while (this.pending.size > 0 || performance.now() - this.lastAnswer < QUIET_MS)
      await this.page.waitForTimeout(QUIET_MS / 2);
  }

  /** Clicks as a pointer does, and counts it. @param name of a button, link, box or tab */
  async click(role: 'button' | 'link' | 'checkbox' | 'radio', name: string | RegExp): Promise<void> {
    await this.page.getByRole(role, { name, ...(typeof name === 'string' ? { exact: true } : {}) }).click();
    this.clicks += 1;
  }

  async fill(label: string | RegExp, text: string): Promise<void> {
    await this.page.getByLabel(label).fill(text);
  }

  /** Waits for a heading of the screen. */
  async reaches(title: string | RegExp): Promise<void> {
    await this.page.getByRole('heading', { level: 1, name: title }).waitFor();
  }
}

const QUIET_MS = 100;
