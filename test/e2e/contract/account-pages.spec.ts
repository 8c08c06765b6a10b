import { randomUUID } from 'node:crypto';
import { accountOwner, mailedToken, type AccountOwner } from '../../builders/accounts';
import { Drawbridge } from '../../harness/drawbridge';
import { until } from '../../harness/until';

const ADVERSE = '<b>&"';
const ESCAPED = '&#60;b&#62;&#38;&#34;';
const PASSWORD = 'My first 1 here';

interface Opened {
  readonly status: number;
  readonly headers: Headers;
  readonly html: string;
}

/** Somebody and the page a mail led to. */
interface Recipient {
  readonly owner: AccountOwner;
  readonly email: string;
  readonly link: string;
}

const opened = async (response: Response): Promise<Opened> => ({
  status: response.status,
  headers: response.headers,
  html: await response.text(),
});
const look = async (link: string): Promise<Opened> => opened(await fetch(link));
const tokenOf = (link: string): string => link.split('/').at(-1)!;

/** Sends the form as a browser does. */
const fill = async (link: string, form: Record<string, string>): Promise<Opened> =>
  opened(await fetch(link, { method: 'POST', body: new URLSearchParams(form) }));
const both = (password: string, given: Record<string, string> = {}): Record<string, string> => ({
  name: 'Grace Hopper',
  password,
  repeat: password,
  ...given,
});

describe('The pages that mail leads to', () => {
  const drawbridge = Drawbridge.shared({ worker: false });

  /** The text of the mail to an address, once it is there. */
  const mailTo = (email: string): Promise<string> =>
    until(`a mail to ${email}`, async () => {
      const lines = drawbridge.apiServer.output.split('\n');
      const line = lines.find((one) => one.includes('"context":"Mail"') && one.includes(email));
      return line !== undefined && (JSON.parse(line) as { text: string }).text;
    });
  const linkIn = (text: string): string => /https?:\/\/\S+/.exec(text)![0];

  const invited = async (organizationName = 'Example'): Promise<Recipient> => {
    const owner = await accountOwner(drawbridge, { organizationName });
    const email = `${randomUUID()}@example.com`;
    await owner.client.created('/users', { email, name: 'Invited' });
    return { owner, email, link: linkIn(await mailTo(email)) };
  };
  const forgetful = async (organizationName = 'Example'): Promise<Recipient> => {
    const owner = await accountOwner(drawbridge, { organizationName });
    const { email } = owner;
    await drawbridge.api.expect(204, drawbridge.api.post('/auth/forgot-password', { email }));
    return { owner, email, link: linkIn(await mailTo(email)) };
  };
  const login = ({ owner, email }: Recipient, password: string) =>
    owner.login({ email, password, organizationSlug: owner.first.user.organizationSlug });

  const KINDS = [
    ['an invitation', invited, 'inviteToken', 'password', 'set-password'],
    ['a password reset', forgetful, 'token', 'newPassword', 'reset-password'],
  ] as const;

  describe.each(KINDS)('%s', (_, sent, tokenField, passwordField, call) => {
    it('the mail names the organization with its slug, the link, and the call with its fields', async () => {
      const { owner, email, link } = await sent();
      const text = await mailTo(email);
      expect(text).toContain(`Example (${owner.first.user.organizationSlug})`);
      expect(text).toContain(`POST /api/v1/auth/${call}`);
      const { origin } = new URL(link);
      const command = `./drawbridge login --url ${origin} --organization ${owner.first.user.organizationSlug}`;
      for (const said of [text, (await fill(link, both(PASSWORD))).html]) {
        expect(said).toContain(`curl -fsSLo drawbridge ${origin}/downloads/drawbridge.mjs &`);
        expect(said).toContain(command);
      }
      const body = JSON.parse(/^\{.*\}$/m.exec(text)![0]) as Record<string, string>;
      expect(body).toEqual({ [tokenField]: tokenOf(link), [passwordField]: '…' });
    });

    it('the e-mail for password managers is hidden: no rule of the page is stronger', async () => {
      const { html } = await look((await sent()).link);
      expect(html).toMatch(/<input name="username"[^>]* hidden>/);
      const style = /<style>(.*)<\/style>/s.exec(html)![1]!;
      expect(style).toMatch(/\[hidden\] \{ display: none !important; \}/);
      expect(style.match(/!important/g)).toHaveLength(1);
    });

    it('the link leads to a form that names organization and e-mail; sent, one can sign in with the slug', async () => {
      const recipient = await sent();
      const { owner, email, link } = recipient;
      const form = await look(link);
      expect(form.status).toBe(200);
      for (const words of ['<form method="post">', 'Example', email, 'name="password"', 'name="repeat"']) {
        expect(form.html).toContain(words);
      }
      const done = await fill(link, both(PASSWORD));
      expect(done.status).toBe(200);
      expect(done.html).toContain('You can sign in now');
      expect(done.html).toContain(owner.first.user.organizationSlug);
      expect(done.html).not.toContain('<form');
      expect(done.html).not.toContain(PASSWORD);
      expect((await login(recipient, PASSWORD)).status).toBe(200);
    });

    it('setting the password there does not sign in', async () => {
      const { owner, email, link } = await sent();
      await fill(link, both(PASSWORD));
      const logins = await owner.audited('USER_LOGIN');
      expect(logins.filter(({ actorEmail }) => actorEmail === email)).toEqual([]);
      const left = await drawbridge.query(
        `SELECT FROM refresh_tokens t JOIN users u ON u.id = t.user_id
         WHERE u.email = $1 AND t.revoked_at IS NULL`,
        [email],
      );
      expect(left).toEqual([]);
    });

    it('looking does not use the token up, and the API still takes it', async () => {
      const { link } = await sent();
      for (let looks = 0; looks < 3; looks += 1) expect((await look(link)).status).toBe(200);
      const body = { [tokenField]: tokenOf(link), [passwordField]: PASSWORD };
      expect((await drawbridge.api.post(`/auth/${call}`, body)).status).toBe(200);
    });

    it('a used, an expired and an unknown link explain the next step without naming a user', async () => {
      const used = await sent();
      await fill(used.link, both(PASSWORD));
      const expired = await sent();
      await drawbridge.query(
        `UPDATE account_tokens t SET expires_at = now() FROM users u WHERE u.id = t.user_id AND u.email = $1`,
        [expired.email],
      );
      const unknown = used.link.replace(tokenOf(used.link), 'nonsense');
      for (const link of [used.link, expired.link, unknown]) {
        for (const page of [await look(link), await fill(link, both('Another 1 here'))]) {
          expect(page.status).toBe(404);
          expect(page.html).toContain('POST /api/v1/auth/forgot-password');
          expect(page.html).not.toMatch(/<form|Example|@example\.com/);
        }
      }
      expect((await login(used, PASSWORD)).status).toBe(200);
    });

    it('a deactivated user’s link works no more', async () => {
      const { email, link } = await sent();
      await drawbridge.query('UPDATE users SET is_active = false WHERE email = $1', [email]);
      expect((await look(link)).status).toBe(404);
    });

    it('the form lists the password policy; a violation is explained, and the password is not echoed', async () => {
      const recipient = await sent();
      const { owner, link } = recipient;
      await owner.organizationSets('password_min_length', 12);
      expect((await look(link)).html).toContain('must have 12 to 128 characters');
      const page = await fill(link, both('Short1secret'.slice(0, 11)));
      expect(page.status).toBe(400);
      expect(page.html).toContain('<p class="problem">It must have 12 to 128 characters.</p>');
      expect(page.html).toContain('<form');
      expect(page.html).not.toContain('Short1');
      expect((await fill(link, both(PASSWORD))).status).toBe(200);
      expect((await login(recipient, PASSWORD)).status).toBe(200);
    });

    it('two different passwords are refused and set nothing', async () => {
      const recipient = await sent();
      const page = await fill(recipient.link, both(PASSWORD, { repeat: 'My first 2 here' }));
      expect(page.status).toBe(400);
      expect(page.html).toContain('It must be the same as the new password.');
      expect(page.html).not.toContain('My first');
      expect((await login(recipient, PASSWORD)).status).toBe(401);
      expect((await look(recipient.link)).status).toBe(200);
    });

    it('an empty form reports the missing fields', async () => {
      const { link } = await sent();
      const page = await fill(link, {});
      expect(page.status).toBe(400);
      expect(page.html).toContain('class="problem"');
    });

    it('sent many times at once, it sets one password', async () => {
      const { link } = await sent();
      const pages = await Promise.all(
        ['First 1 here', 'Second 1 here', 'Third 1 here'].map((password) => fill(link, both(password))),
      );
      expect(pages.map(({ status }) => String(status)).toSorted()).toEqual(['200', '404', '404']);
    });

    it(`an organization named ${ADVERSE} is text on every page`, async () => {
      const { link } = await sent(ADVERSE);
      for (const page of [
        await look(link),
        await fill(link, both('x', { name: ADVERSE })),
        await fill(link, both(PASSWORD)),
      ]) {
        expect(page.html).toContain(ESCAPED);
        expect(page.html).not.toMatch(/<b>|<script|\son\w+=/i);
      }
    });

    it('cannot be framed or cached, loads nothing, and the token is neither forwarded nor logged', async () => {
      const { link } = await sent();
      for (const page of [await look(link), await fill(link, both('x')), await look(`${link}x`)]) {
        expect(page.headers.get('content-type')).toContain('text/html');
        const policy = page.headers.get('content-security-policy') ?? '';
        expect(policy).toContain("default-src 'none'");
        expect(policy).toContain("form-action 'self'");
        expect(policy).toContain("frame-ancestors 'none'");
        expect(policy).not.toContain('unsafe');
        expect(page.headers.get('cache-control')).toBe('no-store');
        expect(page.headers.get('referrer-policy')).toBe('no-referrer');
        expect(page.headers.get('x-robots-tag')).toBe('noindex');
      }
      const { pathname } = new URL(link);
      const masked = pathname.replace(tokenOf(link), '…');
      const requests = await until('the requests are logged', async () => {
        const lines = drawbridge.apiServer.output.split('\n').filter((line) => line.includes(masked));
        return lines.length >= 3 && lines;
      });
      expect(requests.join('\n')).not.toContain(tokenOf(link));
      const mentions = drawbridge.apiServer.output
        .split('\n')
        .filter((line) => line.includes(tokenOf(link)) && !line.includes('"context":"Mail"'));
      expect(mentions).toEqual([]);
    });
  });

  it('an invitation form shows the given name and stores the entered one', async () => {
    const recipient = await invited();
    expect((await look(recipient.link)).html).toContain('value="Invited"');
    const refused = await fill(recipient.link, both(PASSWORD, { name: '  ' }));
    expect(refused.html).toContain('It must not be blank.');
    await fill(recipient.link, both(PASSWORD, { name: ' Grace Hopper ' }));
    expect((await login(recipient, PASSWORD)).body.user).toMatchObject({ name: 'Grace Hopper' });
  });

  it('an invitation is no reset, and a reset no invitation', async () => {
    const [invitation, reset] = [await invited(), await forgetful()];
    const crossed = [
      invitation.link.replace('accept-invitation', 'reset-password'),
      reset.link.replace('reset-password', 'accept-invitation'),
    ];
    for (const link of crossed) expect((await look(link)).status).toBe(404);
  });

  it('a reset does not take the place of the second factor', async () => {
    const owner = await accountOwner(drawbridge);
    await owner.turnMfaOn();
    const { email } = owner;
    await drawbridge.api.expect(204, drawbridge.api.post('/auth/forgot-password', { email }));
    await mailedToken(drawbridge, email);
    const link = linkIn(await mailTo(email));
    expect((await fill(link, both(PASSWORD))).status).toBe(200);
    expect((await owner.login({ password: PASSWORD })).body.mfaRequired).toBe(true);
  });

  it('they count as password routes: too many are refused with a page', async () => {
    const strict = await drawbridge.startApi({ RATE_LIMIT_PER_MINUTE: '6' });
    const link = `http://127.0.0.1:${strict.port}/reset-password/nonsense`;
    const pages = [await look(link), await fill(link, {}), await look(link)];
    expect(pages.map(({ status }) => status)).toEqual([404, 404, 429]);
    expect(pages[2]!.html).toMatch(/try again in \d+ seconds?/);
    expect(Number(pages[2]!.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('without a token there is nothing', async () => {
    const base = `http://127.0.0.1:${drawbridge.apiServer.port}`;
    for (const path of ['/accept-invitation', '/reset-password', '/reset-password/a/b']) {
      expect((await look(`${base}${path}`)).status).toBe(404);
    }
  });
});
