import { loggedPath } from './logged-path';

const SECRET = 'Zk3vQ9d0Tn5xW2yB7cR1sL8mP4aE6fGh0jKqUoIiXwz';
const ID = '4b1c2d3e-0f12-4a34-9b56-7c8d9e0f1a2b';

describe('loggedPath', () => {
  it.each([
    [`/reset-password/${SECRET}`, '/reset-password/…'],
    [`/accept-invitation/${SECRET}?x=1`, '/accept-invitation/…'],
    [`/billing/sandbox/${SECRET}/confirm`, '/billing/sandbox/…/confirm'],
    [`/Billing/SANDBOX/short/decline`, '/Billing/SANDBOX/…/decline'],
  ])('hides the secret in a page’s path: %s', (url, expected) => {
    expect(loggedPath(url)).toBe(expected);
  });

  it.each([
    `/RESET-PASSWORD/abc`,
    `/reset%2Dpassword/abc`,
    `/reset%2dpassword%2fabc`,
    `/reset%252dpassword/abc`,
    `/%72eset-password/abc`,
    `//reset-password//abc`,
    `/./reset-password/./abc`,
    `/reset-password/abc/abc/abc`,
    `/reset-password/.%2fabc`,
    `/x/..%2freset-password%5cabc`,
    `/billing%2Fsandbox/abc`,
    `/billing//sandbox/abc/confirm`,
    `/api/v1/accept-invitation/abc`,
  ])('hides everything after the name of such a page in any spelling: %s', (url) => {
    expect(loggedPath(url)).not.toContain('abc');
  });

  it.each([`/api/v1/x/${SECRET}`, `/${SECRET}/y`, `/rest-password/${SECRET}`, `/%52${SECRET}`])(
    'hides path segments that are as long as a token: %s',
    (url) => {
      expect(loggedPath(url)).not.toContain(SECRET);
    },
  );

  it.each([
    '/api/v1/auth/reset-password',
    '/api/v1/auth/accept-invitation',
    '/reset-password',
    `/api/v1/sessions/${ID}/stop`,
    '/api/v1/roles/a%20role',
    '/',
    '',
  ])('does not change other paths: %s', (url) => {
    expect(loggedPath(url)).toBe(url);
  });
});
