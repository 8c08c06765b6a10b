import { readFileSync } from 'node:fs';
import type { CDPSession } from 'playwright-core';
import type { Visitor } from './browser';

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

/** Each with what is looked for: only what is shown depends on the width, and between two widths nothing does. */
const WIDTHS = [
  [320, 'names'],
  [390, null],
  [1280, 'all'],
] as const;

/**
 * What axe finds, of the dialog that is open, else of the page. It takes as long as there are elements: rows of lists after the
 * first ten, which are made like these, are hidden meanwhile. The page may drop or add rows at any time.
 */
const withFewRows = (body: string): string => `(async () => {
  const rest = [...document.querySelectorAll('tbody tr:nth-child(n + 11)')];
  for (const row of rest) row.style.display = 'none';
  const root = document.querySelector('dialog[open]') ?? document;
  const named = (violations) => violations
    .filter(({ impact }) => ['serious', 'critical'].includes(impact))
    .map(({ id, nodes }) => id + ': ' + nodes.slice(0, 2).map(({ html }) => html.slice(0, 150)).join(' … '));
  try {
    ${body}
  } finally {
    for (const row of rest) row.style.display = '';
  }
})()`;
/** By the rules that `options` of axe choose. */
const findBarriers = (options: string): string =>
  withFewRows(`const { violations } = await axe.run(root, { resultTypes: ['violations'], iframes: false, ${options} });
    return named(violations);`);
const FIND = {
  // all but contrast, and what is slow and never serious
  all: findBarriers(`rules: { 'color-contrast': { enabled: false }, region: { enabled: false } }`),
  names: findBarriers(
    `runOnly: ['aria-hidden-focus', 'button-name', 'label', 'link-name', 'scrollable-region-focusable', 'select-name']`,
  ),
};

/**
 * Texts that are hard to read. Contrast takes most of axe's time, and texts with the same attributes, in elements with the same
 * ones, have the same colours: each is looked at once.
 * @param readable attributes of those that were found readable, in this scheme
 */
const findHardToRead = (readable: ReadonlySet<string>): string =>
  withFewRows(`const known = new Set(${JSON.stringify([...readable])});
    const OTHER = /^(id|for|name|href|value|title|placeholder|datetime|aria-(label|labelledby|describedby|controls))$/;
    const styleOf = (one) => one === null ? '' : styleOf(one.parentElement) + '>' + one.localName +
      [...one.attributes].map(({ name, value }) => OTHER.test(name) ? '' : '[' + name + '=' + value + ']').join('');
    const texts = new Map();
    for (const one of root.querySelectorAll('body, body *')) {
      if (!one.matches('input, select, textarea') && ![...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) continue;
      const style = styleOf(one);
      if (!known.has(style) && !texts.has(style) && one.checkVisibility()) texts.set(style, one);
    }
    if (texts.size === 0) return { barriers: [], readable: [] };
    const { violations, passes } = await axe.run({ include: [...texts.values()] },
      { runOnly: ['color-contrast'], resultTypes: ['violations', 'passes'], elementRef: true, selectors: false, iframes: false });
    const passed = new Set(passes.flatMap(({ nodes }) => nodes.map(({ element }) => element)));
    return { barriers: named(violations), readable: [...texts].filter(([, one]) => passed.has(one)).map(([style]) => style) };`);
/** By scheme. */
const READABLE = { light: new Set<string>(), dark: new Set<string>() };

/** what is wider than the window, innermost first */
const FIND_OVERFLOW = `(() => {
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth <= clientWidth) return null;
  const wide = [...document.querySelectorAll('body *')].filter((one) => one.getBoundingClientRect().right > clientWidth);
  return scrollWidth - clientWidth + ' px: ' + (wide.at(-1)?.outerHTML.slice(0, 150) ?? '');
})()`;

/** An address, a range or an identifier that is no part of a longer word, such as a name. */
const NAMED =
  /(?<![\w.:@/-])(?:(?:\d{1,3}\.){3}\d{1,3}(?:\/\d+)?|(?:[\da-f]{0,4}:){2,7}[\da-f]{1,4}(?:\/\d+)?|(?:[\da-f]{1,4}:){1,6}:\/\d+|(?:sg|sgr|pl)-[\da-f]{8,}|dbk_\w+|[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})(?![\w@-]|[.:]\w)/gi;

/** Those that continue on another line: a part of one reads as another one, as the `/3` of `203.0.113.56/32`. */
const FIND_BROKEN = `(() => {
  const found = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text; text = texts.nextNode())
    for (const { index, 0: named } of text.data.matchAll(${String(NAMED)})) {
      // the name of an organization, which tests take from randomUUID
      if (named.length === 36 && named === text.data && !text.parentElement.closest('code')) continue;
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + named.length);
      const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
      if (lines.size > 1) found.push(named + ' in ' + text.parentElement.outerHTML.slice(0, 150));
    }
  return found;
})()`;

/** Ends that are shown as "never": what was not open, or has no end, is not open for ever. */
const FIND_NEVER = `[...document.querySelectorAll('td, dd')]
  .filter((one) => /^(?:until|ends?|ended)$/i.test(one.dataset.label ?? one.previousElementSibling?.innerText ?? ''))
  .filter((one) => one.innerText.includes('never'))
  .map((one) => one.outerHTML.slice(0, 150))`;

/** Links of lists with so long a name that they make every row tall. */
const FIND_TALL = `[...document.querySelectorAll('td a:not(details *)')]
  .filter((one) => one.getBoundingClientRect().height > 3 * parseFloat(getComputedStyle(one).fontSize) * 1.5)
  .map((one) => one.outerHTML.slice(0, 150))`;

/** Runs an expression as the inspector does: the policy of the page refuses scripts of others. */
async function inspected<T>(inspector: CDPSession, expression: string): Promise<T> {
  const { result, exceptionDetails } = await inspector.send('Runtime.evaluate', {
    expression,
    awaitPromise: true,
    returnByValue: true,
  });
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result.value as T;
}

/**
 * Opens a screen and looks at it in both schemes and widths.
 * @returns what is wrong with it: barriers, overflow, and what the browser complained of
 */
export async function findingsOf(visitor: Visitor, url: string): Promise<string[]> {
  visitor.forget();
  await visitor.goto(url);
  return findingsNow(visitor);
}

/** The same with what its tabs, pages and dialogs show. @returns findings by part; the screen itself is '' */
export async function findingsWithParts(visitor: Visitor, url: string): Promise<Map<string, string[]>> {
  const { page } = visitor;
  const found = new Map([['', await findingsOf(visitor, url)]]);
  await dialogsOf(visitor, '', found);
  const tabs = await page.evaluate<string[]>(
    `[...document.querySelectorAll('main nav a')].filter(({ pathname }) => pathname === location.pathname).map(({ href }) => href)`,
  );
  for (const tab of new Set(tabs)) {
    if (tab === url) continue;
    const name = new URL(tab).search;
    found.set(name, await findingsOf(visitor, tab));
    // the next page of a list opens the dialogs of the first one
    if (!name.includes('page=')) await dialogsOf(visitor, name, found);
  }
  return found;
}

const MAX_DIALOGS = 5;

/** Opens the first dialogs of a screen, each label once. */
async function dialogsOf(visitor: Visitor, part: string, found: Map<string, string[]>): Promise<void> {
  const { page } = visitor;
  const openers = page.locator('main button[aria-haspopup=dialog]:visible');
  const labels = new Set(await openers.allInnerTexts());
  for (const label of [...labels].slice(0, MAX_DIALOGS)) {
    visitor.forget();
    await openers.filter({ hasText: label }).first().click();
    await page.locator('dialog[open]').waitFor();
    await visitor.settled();
    found.set(`${part} “${label}”`, await findingsNow(visitor));
    await page.keyboard.press('Escape');
    await page.locator('dialog[open]').waitFor({ state: 'detached' });
    if (await page.evaluate<boolean>('document.activeElement === document.body'))
      found.set(`${part} after “${label}”`, ['the focus is lost']);
  }
}

async function findingsNow(visitor: Visitor): Promise<string[]> {
  const { page, context } = visitor;
  const inspector = await context.newCDPSession(page);
  // a dialog is in the same document as its page
  if (!(await inspected<boolean>(inspector, `'axe' in window`))) await inspected(inspector, `${AXE}; null`);
  const findings = new Set<string>();
  for (const [width, looked] of WIDTHS) {
    await page.setViewportSize({ width, height: 800 });
    for (const broken of await inspected<string[]>(inspector, FIND_BROKEN))
      findings.add(`${width} px: broken: ${broken}`);
    for (const end of await inspected<string[]>(inspector, FIND_NEVER))
      findings.add(`an end that is never: ${end}`);
    // narrower, each row is a card
    const isTable = width === 1280;
    for (const tall of isTable ? await inspected<string[]>(inspector, FIND_TALL) : [])
      findings.add(`a name that is tall: ${tall}`);
    for (const barrier of looked ? await inspected<string[]>(inspector, FIND[looked]) : [])
      findings.add(`${width} px: ${barrier}`);
    const overflow = await inspected<string | null>(inspector, FIND_OVERFLOW);
    if (overflow) findings.add(`${width} px: wider than the window by ${overflow}`);
  }
  for (const scheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    const { barriers, readable } = await inspected<{ barriers: string[]; readable: string[] }>(
      inspector,
      findHardToRead(READABLE[scheme]),
    );
    for (const style of readable) READABLE[scheme].add(style);
    for (const barrier of barriers) findings.add(`${scheme}: ${barrier}`);
  }
  await inspector.detach();
  return [...visitor.complaints, ...findings];
}
