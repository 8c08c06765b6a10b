import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { neededInCi } from '../needed-in-ci';

/** Of the browsers of tests: no one's own. */
export const ZONE = 'Europe/Berlin';
/** The first is made for programs, and takes half of a browser's processor time. */
const NAMES = [
  'chromium-headless-shell',
  'chromium',
  'chromium-browser',
  'google-chrome',
  'google-chrome-stable',
];
const MAC = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome';

function findChromium(): string | null {
  const { CHROMIUM_PATH, PATH = '' } = process.env;
  if (CHROMIUM_PATH !== undefined) return CHROMIUM_PATH;
  const named = PATH.split(delimiter).flatMap((folder) => NAMES.map((name) => join(folder, name)));
  return [...named, MAC].find((path) => existsSync(path)) ?? null;
}

const chromiumPath = findChromium();

const hasChromium = neededInCi('chromium', chromiumPath !== null);

/** `describe` for suites that need a browser. */
export function describeInBrowser(title: string, tests: () => void): void {
  if (hasChromium) {
    describe(title, tests);
    return;
  }
  process.stderr.write(`Skipped, no Chromium is here (CHROMIUM_PATH may name one): ${title}\n`);
  describe.skip(title, tests);
}

/** What a page does that no page of the console may do. */
const TELL_OF_VIOLATIONS = `document.addEventListener('securitypolicyviolation', (event) =>
  console.error('Refused by the policy: ' + event.violatedDirective + ' ' + event.blockedURI + ' ' + event.sample))`;

/** A browser for the tests of a file. Each person has an own profile in it. */
export class TestBrowser {
  private browser!: Browser;
  private readonly open = new Set<BrowserContext>();

  static async start(): Promise<TestBrowser> {
    const started = new TestBrowser();
    await started.launch();
    return started;
  }

  /** For the tests of a file or of a `describe`. */
  static own(): TestBrowser {
    const browser = new TestBrowser();
    beforeAll(() => browser.launch());
    afterEach(() => browser.closeProfiles());
    afterAll(() => browser.close());
    return browser;
  }

  private async launch(): Promise<void> {
    // as slow to load as a browser to start: only where it is used
    const { chromium } = await import('playwright-core');
    const isRoot = process.getuid?.() === 0;
    this.browser = await chromium.launch({
      executablePath: chromiumPath!,
      args: isRoot ? ['--no-sandbox'] : [],
    });
  }

  close = (): Promise<void> => this.browser.close();

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
      timezoneId: ZONE,
      ...options,
    });
    this.open.add(context);
    context.setDefaultTimeout(60_000);
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
      const complaint = `${message.text()} (${message.location().url})`;
      if (message.type() === 'error' && !SAYS_NONE.test(complaint)) this.complaints.push(complaint);
    });
    context.on('weberror', (error) => this.complaints.push(error.error().message));
    page.on('request', (request) => this.pending.add(request));
    const ended = (request: object): void => {
      this.pending.delete(request);
      this.lastAnswer = performance.now();
    };
    page.on('requestfinished', ended);
    page.on('requestfailed', ended);
  }

  forget(): void {
    this.complaints.length = 0;
  }

  /** Opens an address, or a path of the console, and waits until the screen has what it asked for. */
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

  async fill(label: string, text: string): Promise<void> {
    await this.page.getByLabel(new RegExp(`^${label}(?: \\(optional\\))?\\s*$`)).fill(text);
  }

  /** Presses Tab until something of this name has the focus. @throws Error when nothing has, once around the page */
  async tabTo(name: string): Promise<void> {
    for (let presses = 0; presses < MAX_TABS; presses += 1) {
      await this.press('Tab');
      if ((await this.focused()) === name) return;
    }
    throw new Error(`The keyboard does not reach ${name}`);
  }

  /** The name of what has the focus. */
  focused = (): Promise<string> => this.page.evaluate<string>(NAME_OF_FOCUSED);

  /** Goes to a field by keyboard, and types instead of what is in it. */
  async types(label: string, text: string): Promise<void> {
    if ((await this.focused()) !== label) await this.tabTo(label);
    await this.press('ControlOrMeta+A');
    await this.page.keyboard.type(text);
  }

  /** Goes to a list of options by keyboard, and down to one of them. */
  async chooses(label: string, option: string): Promise<void> {
    await this.tabTo(label);
    await this.press('Home');
    const chosen = 'document.activeElement.selectedOptions[0].text';
    for (let presses = 0; (await this.page.evaluate<string>(chosen)) !== option; presses += 1) {
      if (presses > MAX_TABS) throw new Error(`${label} has no ${option}`);
      await this.press('ArrowDown');
    }
  }

  press = (key: string): Promise<void> => this.page.keyboard.press(key);
  /** Waits for a heading, by default of the screen. */
  reaches = (title: string | RegExp, level = 1): Promise<void> =>
    this.page.getByRole('heading', { level, name: title }).waitFor();
  /** Waits for a text. */
  shows = (text: string | RegExp): Promise<void> => this.page.getByText(text).first().waitFor();
  /** Waits for a text that assistive technology reads out. */
  says = (text: string | RegExp): Promise<void> => this.page.getByRole('status').getByText(text).waitFor();

  /** Answers the open dialog, and waits until it is gone. @param fields what is entered, by label */
  async confirms(button: string | RegExp, fields: Readonly<Record<string, string>> = {}): Promise<void> {
    const dialog = this.page.getByRole('dialog');
    for (const [label, text] of Object.entries(fields)) await dialog.getByLabel(label).fill(text);
    await dialog.getByRole('button', { name: button }).click();
    await dialog.waitFor({ state: 'detached' });
  }
}

/** Browsers call any 404 an error. These say that nothing was entered or bought yet. */
const SAYS_NONE = /404 .*\/(?:billing\/subscription|organization\/billing)\)$/;
const QUIET_MS = 100;
const MAX_TABS = 80;
const NAME_OF_FOCUSED = `(() => {
  const { labels, ariaLabel, innerText } = document.activeElement;
  return (labels?.[0]?.innerText ?? ariaLabel ?? innerText ?? '').replace('(optional)', '').trim();
})()`;
