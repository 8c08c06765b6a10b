import { getRouteApi, Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { deviceToken, openApi, refresh } from '../../api';
import { useSignIn } from '../../layout/me';
import { defined } from '../../parts/search';
import { ButtonLink, Form, Loading, Notice, Page, Problem, Row, TextField, useProblem } from '../../ui';
import { IN_COOKIE, SignsIn } from './steps';

const route = getRouteApi('/open/sign-in');

/** With a password, or with the link that `npm start` prints. */
export function SignInScreen() {
  const search = route.useSearch();
  const signIn = useSignIn();
  const [oneTimeToken] = useState(takeOneTimeToken);
  const [isUsed, setUsed] = useState(false);
  if (oneTimeToken !== null && !isUsed && signIn.state === 'out')
    return <OneTimeSignIn token={oneTimeToken} onRefused={() => setUsed(true)} />;
  return (
    <SignsIn next={search.next ?? '/'}>
      {(onAnswer) => (
        <Page title="Sign in">
          {signIn.state === 'out' && signIn.reason ? <Notice>{signIn.reason}</Notice> : null}
          {isUsed ? (
            <Notice tone="warn">
              The link was used before; it works once. Sign in with the e-mail address and the password that
              are printed below it.
            </Notice>
          ) : null}
          <Form
            submit="Sign in"
            busy="Signing in…"
            onDone={onAnswer}
            send={async (entered) => {
              const body = {
                email: entered.text('email'),
                password: entered.raw('password'),
                ...defined({ organizationSlug: entered.optional('organizationSlug') }),
                ...deviceToken(),
                ...IN_COOKIE,
              };
              return (await openApi.POST('/api/v1/auth/login', { body })).data!;
            }}
          >
            <TextField name="email" label="E-mail" type="email" autoComplete="username" autoFocus />
            <TextField name="password" label="Password" type="password" autoComplete="current-password" />
            <WhichOrganization />
          </Form>
          <ButtonLink to="/sign-in/company" search={search}>
            Sign in with your company
          </ButtonLink>
          <Row>
            <Link to="/forgot-password">Forgot your password?</Link>
            <Link to="/register">Register an organization</Link>
          </Row>
        </Page>
      )}
    </SignsIn>
  );
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/**
 * The token of a link that `npm start` prints. Only on the machine it was printed on: elsewhere, such a link could sign
 * a person in as another one.
 */
function takeOneTimeToken(): string | null {
  const token = new URLSearchParams(location.hash.slice(1)).get('refreshToken');
  if (token === null) return null;
  history.replaceState(null, '', location.pathname + location.search);
  return LOOPBACK.includes(location.hostname) ? token : null;
}

/** Asked of those whose e-mail address and password belong to several. */
const WhichOrganization = () => (
  <details open={useProblem('organizationSlug') !== null}>
    <summary>My address belongs to several organizations</summary>
    <TextField
      name="organizationSlug"
      label="Organization"
      required={false}
      help="Its short name, which is in your invitation."
    />
  </details>
);

function OneTimeSignIn({ token, onRefused }: { token: string; onRefused: () => void }) {
  const [failed, setFailed] = useState<unknown>(null);
  useEffect(() => {
    const enter = async (): Promise<void> => {
      if (!(await refresh(token))) onRefused();
    };
    enter().catch(setFailed);
    // a token is sent once
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [token]);
  return failed ? <Problem error={failed} /> : <Loading what="Signing in" />;
}

/** A new organization and its first administrator. */
export const Register = () => (
  <SignsIn next="/set-up">
    {(onAnswer) => (
      <Page title="Register an organization" lead="You become its first administrator.">
        <Form
          submit="Register"
          onDone={onAnswer}
          send={async (entered) => {
            const body = {
              organizationName: entered.text('organizationName'),
              name: entered.text('name'),
              email: entered.text('email'),
              password: entered.raw('password'),
              ...IN_COOKIE,
            };
            return (await openApi.POST('/api/v1/auth/register', { body })).data!;
          }}
        >
          <TextField name="organizationName" label="Organization" autoComplete="organization" autoFocus />
          <TextField name="name" label="Your name" autoComplete="name" />
          <TextField name="email" label="E-mail" type="email" autoComplete="username" />
          <TextField name="password" label="Password" type="password" autoComplete="new-password" />
        </Form>
        <Link to="/sign-in">Registered already? Sign in</Link>
      </Page>
    )}
  </SignsIn>
);
