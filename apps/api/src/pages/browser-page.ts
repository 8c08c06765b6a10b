import { createHash } from 'node:crypto';
import type { Response } from 'express';

/** Escaped HTML. */
export class Markup {
  private constructor(private readonly html: string) {}

  /** Template tag: escapes every value that is not Markup. */
  static of(texts: TemplateStringsArray, ...given: readonly (string | Markup)[]): Markup {
    return new Markup(texts.map((text, index) => text + Markup.written(given[index] ?? '')).join(''));
  }

  private static written(value: string | Markup): string {
    if (value instanceof Markup) return value.html;
    return value.replaceAll(/[&<>"']/g, (character) => `&#${character.codePointAt(0)};`);
  }

  toString(): string {
    return this.html;
  }
}

const STYLE = `
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  body { max-width: 30rem; margin: 12vh auto; padding: 0 1.25rem; }
  h1 { font-size: 1.4rem; }
  dl { display: grid; grid-template-columns: auto 1fr; gap: .25rem 1.5rem; }
  dd { margin: 0; font-weight: 600; }
  form { display: inline; }
  label { display: block; margin: 1rem 0 0; }
  input { display: block; box-sizing: border-box; width: 100%; font: inherit; padding: .5rem; }
  /* over every display above */
  [hidden] { display: none !important; }
  code { overflow-wrap: anywhere; }
  .problem { color: light-dark(#b00020, #ff8a80); }
  button { font: inherit; padding: .5rem 1.25rem; margin: 1rem .5rem 0 0; border: 1px solid; border-radius: .4rem; cursor: pointer; }
  .note { opacity: .75; font-size: .9rem; }
`;

const PAGE_HEADERS = {
  'Content-Security-Policy': [
    "default-src 'none'",
    `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; '),
  // the address of a page is a secret
  'Referrer-Policy': 'no-referrer',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'X-Robots-Tag': 'noindex',
};

/** An HTML page. */
export interface BrowserPage {
  readonly status: number;
  readonly title: string;
  readonly body: Markup;
}

/** Sends a page without scripts and external resources. */
export function sendPage(response: Response, { status, title, body }: BrowserPage): void {
  const document = [
    `<!doctype html><html lang="en"><head><meta charset="utf-8">`,
    `<meta name="viewport" content="width=device-width, initial-scale=1">`,
    Markup.of`<title>${title} · Drawbridge</title>`,
    `<style>${STYLE}</style></head>`,
    Markup.of`<body><main><h1>${title}</h1>${body}</main></body></html>`,
  ].join('');
  response.status(status).set(PAGE_HEADERS).type('html').send(document);
}
