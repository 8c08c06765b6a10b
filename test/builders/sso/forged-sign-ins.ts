import { randomUUID } from 'node:crypto';
import type { IssuerPerson, Lie, SignInIssuer } from '../../harness/issuers/sign-in-issuer';
import { type CompanySignIn, person } from './company-sign-in';
import { FORGED_ANSWERS, type Forgery, type SignInBench } from './forged-answers';

/** The callback is not as the issuer sent it. */
const altered =
  (alter: (callback: URL, bench: SignInBench) => unknown): Forgery[2] =>
  async (bench) => {
    const { authorize, verifier } = await bench.signIn.begin();
    const callback = bench.issuer.signIn(authorize, bench.ada);
    await alter(callback, bench);
    return bench.signIn.outcome(callback, verifier);
  };

/** Something happens between the issuer's answer and the client's request. */
const meanwhile =
  (
    happens: (bench: SignInBench, code: string) => Promise<unknown>,
    verifierOf?: (own: string) => string,
  ): Forgery[2] =>
  async (bench) => {
    const { authorize, verifier } = await bench.signIn.begin();
    const { told } = await bench.signIn.answer(bench.issuer.signIn(authorize, bench.ada));
    const code = told.get('code')!;
    await happens(bench, code);
    const { status } = await bench.signIn.complete(code, verifierOf?.(verifier) ?? verifier);
    return status === 200 ? 'in' : `complete ${status}`;
  };

/** Something changes while the person is at the issuer; afterwards it is as before. */
const whileChanged =
  (change: string, back: string, given: (bench: SignInBench) => string): Forgery[2] =>
  async (bench) => {
    const { query } = bench.org.drawbridge;
    const { authorize, verifier } = await bench.signIn.begin();
    await query.call(bench.org.drawbridge, change, [given(bench)]);
    try {
      return await bench.signIn.outcome(bench.issuer.signIn(authorize, bench.ada), verifier);
    } finally {
      await query.call(bench.org.drawbridge, back, [given(bench)]);
    }
  };

/** Somebody whom nobody has linked signs in. */
const unknown =
  (
    who: (bench: SignInBench) => IssuerPerson | Promise<IssuerPerson>,
    lie: (somebody: IssuerPerson) => Lie = () => ({}),
  ): Forgery[2] =>
  async (bench) => {
    const { authorize, verifier } = await bench.signIn.begin();
    const somebody = await who(bench);
    return bench.signIn.outcome(bench.issuer.signIn(authorize, somebody, lie(somebody)), verifier);
  };

/** Somebody with the address of an invitation, but not as that demands. */
const notInvited = (
  more: (email: string) => Partial<IssuerPerson>,
  lie?: (somebody: IssuerPerson) => Lie,
): Forgery[2] =>
  unknown(async ({ org }) => {
    const { email } = person();
    await org.admin.created('/users', { email });
    return person({ email, ...more(email) });
  }, lie);

const notStarted =
  (asked: Readonly<Record<string, string>>): Forgery[2] =>
  async ({ signIn }) =>
    `start ${(await signIn.start(asked)).status}`;

const CALLBACKS: readonly Forgery[] = [
  ['no state', 'error over', altered((callback) => callback.searchParams.delete('state'))],
  ['an unknown state', 'error over', altered((callback) => callback.searchParams.set('state', randomUUID()))],
  ['a state twice', 'error invalid', altered((callback) => callback.searchParams.append('state', 'x'))],
  ['no code', 'error invalid', altered((callback) => callback.searchParams.delete('code'))],
  ['a code twice', 'error invalid', altered((callback) => callback.searchParams.append('code', 'x'))],
  [
    'an unknown code',
    'error invalid',
    altered((callback) => callback.searchParams.set('code', randomUUID())),
  ],
  [
    'a refusal by the issuer',
    'error denied',
    altered((callback) => callback.searchParams.set('error', 'access_denied')),
  ],
  [
    'iss of another issuer',
    'error invalid',
    altered((callback, { otherIssuer }) => callback.searchParams.set('iss', otherIssuer.url)),
  ],
  [
    'no iss from an issuer that sends it',
    'error invalid',
    altered((callback) => callback.searchParams.delete('iss')),
  ],
  [
    'an ID token beside the code',
    'error invalid',
    altered((callback) => callback.searchParams.set('id_token', 'a.b.c')),
  ],
  [
    'the callback of another tenant',
    'error over',
    altered(
      (callback, { signIn, other }) =>
        (callback.pathname = callback.pathname.replace(signIn.slug, other.slug)),
    ),
  ],
  [
    'the callback of no tenant',
    'error over',
    altered((callback, { signIn }) => (callback.pathname = callback.pathname.replace(signIn.slug, 'nobody'))),
  ],
  ['an answer that came before', 'error over', altered((callback, { signIn }) => signIn.answer(callback))],
  [
    'an answer after ten minutes',
    'error over',
    altered((_, { org }) =>
      org.drawbridge.query(`UPDATE sso_attempts SET expires_at = now() WHERE organization_id = $1`, [
        org.organizationId,
      ]),
    ),
  ],
  [
    'the code of another sign-in',
    'error invalid',
    altered(async (callback, { signIn, issuer, ada }) => {
      const { authorize } = await signIn.begin();
      callback.searchParams.set('code', issuer.codeFor(authorize.searchParams, ada));
    }),
  ],
  [
    'the code of another sign-in, at an issuer that checks no verifier',
    'error invalid',
    altered((callback, { signIn, issuer, ada }) => injected(callback, signIn, issuer, ada)),
  ],
  [
    'the state of another tenant’s sign-in',
    'error over',
    altered(async (callback, { other }) => {
      const { authorize } = await other.begin();
      callback.searchParams.set('state', authorize.searchParams.get('state')!);
    }),
  ],
];

/** A code that somebody else got: the verifier would fit, the nonce does not. */
async function injected(
  callback: URL,
  signIn: CompanySignIn,
  issuer: SignInIssuer,
  ada: IssuerPerson,
): Promise<void> {
  const [{ authorize: own }, state] = [await signIn.begin(), callback.searchParams.get('state')!];
  const code = issuer.codeFor(own.searchParams, ada);
  issuer.checksVerifiers = false;
  callback.searchParams.set('code', code);
  callback.searchParams.set('state', state);
}

const COMPLETIONS: readonly Forgery[] = [
  [
    'a code with another client’s verifier',
    'complete 401',
    meanwhile(
      async () => undefined,
      () => randomUUID().repeat(2),
    ),
  ],
  [
    'a code with its challenge',
    'complete 401',
    meanwhile(
      async () => undefined,
      (own) => `${own.slice(0, -1)}${own.endsWith('A') ? 'B' : 'A'}`,
    ),
  ],
  [
    'a code that another verifier was tried with',
    'complete 401',
    meanwhile(({ signIn }, code) => signIn.complete(code, randomUUID().repeat(2))),
  ],
  [
    'a code after a minute',
    'complete 401',
    meanwhile(({ org }) =>
      org.drawbridge.query(`UPDATE sso_attempts SET expires_at = now() WHERE organization_id = $1`, [
        org.organizationId,
      ]),
    ),
  ],
  [
    'a code that was used',
    'complete 401',
    async (bench) => {
      const { authorize, verifier } = await bench.signIn.begin();
      const { told } = await bench.signIn.answer(bench.issuer.signIn(authorize, bench.ada));
      await bench.org.drawbridge.api.expect(200, bench.signIn.complete(told.get('code')!, verifier));
      return `complete ${(await bench.signIn.complete(told.get('code')!, verifier)).status}`;
    },
  ],
  [
    'a guessed code',
    'complete 401',
    async ({ signIn }) => `complete ${(await signIn.complete(randomUUID(), randomUUID().repeat(2))).status}`,
  ],
];

const STARTS: readonly Forgery[] = [
  ...[
    'https://evil.example',
    '//evil.example',
    'console@evil.example',
    'evil.example:1024',
    '80',
    '65536',
    '01024',
    '1024/../x',
    '',
  ].map((returnTo): Forgery => [`a return to “${returnTo}”`, 'start 400', notStarted({ returnTo })]),
  ['a challenge of another length', 'start 400', notStarted({ challenge: 'short' })],
  ['no provider of the organization', 'start 404', notStarted({ provider: randomUUID() })],
];

const PEOPLE: readonly Forgery[] = [
  ['somebody unknown', 'error not-linked', unknown(() => person())],
  [
    'the subject in other letters',
    'error not-linked',
    unknown(({ ada }) => ({ ...ada, sub: ada.sub.toUpperCase() })),
  ],
  [
    'the address of an administrator with a password',
    'error not-linked',
    unknown(({ org }) => person({ email: org.adminEmail })),
  ],
  [
    'the address of somebody who is linked',
    'error not-linked',
    unknown(({ ada }) => ({ ...ada, sub: randomUUID() })),
  ],
  [
    'an invited address that is not verified',
    'error not-linked',
    notInvited(() => ({ email_verified: false })),
  ],
  [
    'an invited address that only a user info about another person verifies',
    'error not-linked',
    notInvited(
      () => ({ email_verified: false }),
      ({ email }) => ({ userinfo: { sub: 'another', email, email_verified: true } }),
    ),
  ],
  [
    'an invited address that is “verified” in another type',
    'error not-linked',
    notInvited(() => ({ email_verified: ['true'] })),
  ],
  [
    'an invited address with another domain behind it',
    'error not-linked',
    notInvited((email) => ({ email: `${email}.evil.example` })),
  ],
  [
    'an invited address of another domain',
    'error not-linked',
    unknown(async ({ org }) => {
      const somebody = person({ email: `${randomUUID()}@elsewhere.example` });
      await org.admin.created('/users', { email: somebody.email });
      return somebody;
    }),
  ],
];

const CHANGES: readonly Forgery[] = [
  [
    'a provider that was disabled',
    'error ended',
    whileChanged(
      'UPDATE identity_providers SET is_enabled = false WHERE id = $1',
      'UPDATE identity_providers SET is_enabled = true WHERE id = $1',
      ({ providerId }) => providerId,
    ),
  ],
  [
    'an organization that was suspended',
    'error ended',
    whileChanged(
      'UPDATE organizations SET suspended_at = now() WHERE id = $1',
      'UPDATE organizations SET suspended_at = NULL WHERE id = $1',
      ({ org }) => org.organizationId,
    ),
  ],
  [
    'an organization that was deleted',
    'error ended',
    whileChanged(
      'UPDATE organizations SET deleted_at = now() WHERE id = $1',
      'UPDATE organizations SET deleted_at = NULL WHERE id = $1',
      ({ org }) => org.organizationId,
    ),
  ],
  [
    'an account that was deactivated',
    'error not-active',
    whileChanged(
      'UPDATE users SET is_active = false WHERE email = $1',
      'UPDATE users SET is_active = true WHERE email = $1',
      ({ ada }) => ada.email,
    ),
  ],
];

export const FORGED_SIGN_INS: readonly Forgery[] = [
  ...FORGED_ANSWERS,
  ...CALLBACKS,
  ...COMPLETIONS,
  ...STARTS,
  ...PEOPLE,
  ...CHANGES,
];
