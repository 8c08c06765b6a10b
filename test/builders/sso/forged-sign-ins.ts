import { randomUUID } from 'node:crypto';
import type { IssuerPerson, Lie } from '../../harness/issuers/sign-in-issuer';
import { person } from './company-sign-in';
import { endingWith, FORGED_ANSWERS, type Forgery, type SignInBench } from './forged-answers';

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

/** A column has another value while the person is at the issuer. */
const whileChanged =
  (table: string, [change, back]: [string, string], which: (bench: SignInBench) => object): Forgery[2] =>
  async (bench) => {
    const [[key, value] = []] = Object.entries(which(bench));
    const set = (assignment: string): Promise<object[]> =>
      bench.org.drawbridge.query(`UPDATE ${table} SET ${assignment} WHERE ${key} = $1`, [value]);
    const { authorize, verifier } = await bench.signIn.begin();
    await set(change);
    try {
      return await bench.signIn.outcome(bench.issuer.signIn(authorize, bench.ada), verifier);
    } finally {
      await set(back);
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

/** The time to go on with the sign-in is over. */
const tooLate = ({ org }: SignInBench): Promise<object[]> =>
  org.drawbridge.query(`UPDATE sso_attempts SET expires_at = now() WHERE organization_id = $1`, [
    org.organizationId,
  ]);

const CALLBACKS: readonly Forgery[] = [
  ...endingWith('error over', {
    'no state': altered(({ searchParams }) => searchParams.delete('state')),
    'an unknown state': altered(({ searchParams }) => searchParams.set('state', randomUUID())),
    'the callback of another tenant': altered(
      (callback, { signIn, other }) =>
        (callback.pathname = callback.pathname.replace(signIn.slug, other.slug)),
    ),
    'the callback of no tenant': altered(
      (callback, { signIn }) => (callback.pathname = callback.pathname.replace(signIn.slug, 'nobody')),
    ),
    'an answer that came before': altered((callback, { signIn }) => signIn.answer(callback)),
    'an answer after ten minutes': altered((_, bench) => tooLate(bench)),
    'the state of another tenant’s sign-in': altered(async ({ searchParams }, { other }) => {
      const { authorize } = await other.begin();
      searchParams.set('state', authorize.searchParams.get('state')!);
    }),
  }),
  ...endingWith('error invalid', {
    'a state twice': altered(({ searchParams }) => searchParams.append('state', 'x')),
    'no code': altered(({ searchParams }) => searchParams.delete('code')),
    'a code twice': altered(({ searchParams }) => searchParams.append('code', 'x')),
    'an unknown code': altered(({ searchParams }) => searchParams.set('code', randomUUID())),
    'iss of another issuer': altered(({ searchParams }, { otherIssuer }) =>
      searchParams.set('iss', otherIssuer.url),
    ),
    'no iss from an issuer that sends it': altered(({ searchParams }) => searchParams.delete('iss')),
    'an ID token beside the code': altered(({ searchParams }) => searchParams.set('id_token', 'a.b.c')),
    'the code of another sign-in': altered(async ({ searchParams }, { signIn, issuer, ada }) => {
      const { authorize } = await signIn.begin();
      searchParams.set('code', issuer.codeFor(authorize.searchParams, ada));
    }),
    // somebody else got the code: the verifier would fit, the nonce does not
    'the code of another sign-in, at an issuer that checks no verifier': altered(
      async ({ searchParams }, { signIn, issuer, ada }) => {
        const { authorize } = await signIn.begin();
        issuer.checksVerifiers = false;
        searchParams.set('code', issuer.codeFor(authorize.searchParams, ada));
      },
    ),
  }),
  ...endingWith('error denied', {
    'a refusal by the issuer': altered(({ searchParams }) => searchParams.set('error', 'access_denied')),
  }),
];

const COMPLETIONS = endingWith('complete 401', {
  'a code with another client’s verifier': meanwhile(
    async () => undefined,
    () => randomUUID().repeat(2),
  ),
  'a code with its challenge': meanwhile(
    async () => undefined,
    (own) => `${own.slice(0, -1)}${own.endsWith('A') ? 'B' : 'A'}`,
  ),
  'a code that another verifier was tried with': meanwhile(({ signIn }, code) =>
    signIn.complete(code, randomUUID().repeat(2)),
  ),
  'a code after a minute': meanwhile(tooLate),
  'a code that was used': async ({ signIn, issuer, ada, org }) => {
    const { authorize, verifier } = await signIn.begin();
    const { told } = await signIn.answer(issuer.signIn(authorize, ada));
    await org.drawbridge.api.expect(200, signIn.complete(told.get('code')!, verifier));
    return `complete ${(await signIn.complete(told.get('code')!, verifier)).status}`;
  },
  'a guessed code': async ({ signIn }) =>
    `complete ${(await signIn.complete(randomUUID(), randomUUID().repeat(2))).status}`,
});

const ADDRESSES = [
  'https://evil.example',
  '//evil.example',
  'console@evil.example',
  'evil.example:1024',
  '80',
  '65536',
  '01024',
  '1024/../x',
  '',
];

const STARTS: readonly Forgery[] = [
  ...ADDRESSES.map((returnTo): Forgery => [
    `a return to “${returnTo}”`,
    'start 400',
    notStarted({ returnTo }),
  ]),
  ['a challenge of another length', 'start 400', notStarted({ challenge: 'short' })],
  ['no provider of the organization', 'start 404', notStarted({ provider: randomUUID() })],
];

const PEOPLE = endingWith('error not-linked', {
  'somebody unknown': unknown(() => person()),
  'the subject in other letters': unknown(({ ada }) => ({ ...ada, sub: ada.sub.toUpperCase() })),
  'the address of an administrator with a password': unknown(({ org }) => person({ email: org.adminEmail })),
  'the address of somebody who is linked': unknown(({ ada }) => ({ ...ada, sub: randomUUID() })),
  'an invited address that is not verified': notInvited(() => ({ email_verified: false })),
  'an invited address that only a user info about another person verifies': notInvited(
    () => ({ email_verified: false }),
    ({ email }) => ({ userinfo: { sub: 'another', email, email_verified: true } }),
  ),
  'an invited address that is “verified” in another type': notInvited(() => ({ email_verified: ['true'] })),
  'an invited address with another domain behind it': notInvited((email) => ({
    email: `${email}.evil.example`,
  })),
  'an invited address of another domain': unknown(async ({ org }) => {
    const somebody = person({ email: `${randomUUID()}@elsewhere.example` });
    await org.admin.created('/users', { email: somebody.email });
    return somebody;
  }),
});

const CHANGES: readonly Forgery[] = [
  ...endingWith('error ended', {
    'a provider that was disabled': whileChanged(
      'identity_providers',
      ['is_enabled = false', 'is_enabled = true'],
      ({ providerId }) => ({ id: providerId }),
    ),
    'an organization that was suspended': whileChanged(
      'organizations',
      ['suspended_at = now()', 'suspended_at = NULL'],
      ({ org }) => ({ id: org.organizationId }),
    ),
    'an organization that was deleted': whileChanged(
      'organizations',
      ['deleted_at = now()', 'deleted_at = NULL'],
      ({ org }) => ({ id: org.organizationId }),
    ),
  }),
  ...endingWith('error not-active', {
    'an account that was deactivated': whileChanged(
      'users',
      ['is_active = false', 'is_active = true'],
      ({ ada }) => ({ email: ada.email }),
    ),
  }),
];

export const FORGED_SIGN_INS: readonly Forgery[] = [
  ...FORGED_ANSWERS,
  ...CALLBACKS,
  ...COMPLETIONS,
  ...STARTS,
  ...PEOPLE,
  ...CHANGES,
];
