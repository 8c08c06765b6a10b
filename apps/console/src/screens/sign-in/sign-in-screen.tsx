import { Link, Navigate, useRouter } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { currentSignIn, deviceToken, openApi, refresh, type Schemas } from '../../api';
import { Resume } from '../../layout/roots';
import { useSignIn } from '../../layout/me';
import { Alone } from '../../layout/shell';
import { Form, Loading, Notice, Page, Problem, Row, TextField } from '../../ui';
import { IN_COOKIE, Steps } from './steps';

/** @param next where to go then */
export function SignInScreen({ next }: { readonly next: string }) {
  const signIn = useSignIn();
  const { history } = useRouter();
  const [oneTimeToken] = useState(takeOneTimeToken);
  const [answer, setAnswer] = useState<Schemas['LoginAnswerDto'] | null>(null);
  // the address may name any screen, so it is no typed route
  useEffect(() => {
    if (signIn.state === 'in' && !signIn.setupRequired) history.replace(next);
  }, [signIn, history, next]);
  if (signIn.state === 'unknown') return <Resume />;
  if (signIn.state === 'in') return signIn.setupRequired ? <Navigate to="/set-up-mfa" replace /> : null;
  if (oneTimeToken !== null) return <OneTimeSignIn token={oneTimeToken} />;
  return (
    <Alone>
      {answer ? (
        <Steps answer={answer} />
      ) : (
        <Page title="Sign in">
          {signIn.reason ? <Notice>{signIn.reason}</Notice> : null}
          <PasswordForm onAnswer={setAnswer} />
          <Row>
            <Link to="/forgot-password">Forgot your password?</Link>
            <Link to="/register">Register an organization</Link>
          </Row>
        </Page>
      )}
    </Alone>
  );
}

function PasswordForm({ onAnswer }: { onAnswer: (answer: Schemas['LoginAnswerDto']) => void }) {
  const [asksSlug, setAsksSlug] = useState(false);
  return (
    <Form
      submit="Sign in"
      busy="Signing in…"
      onDone={onAnswer}
      send={async (entered) => {
        const slug = entered.optional('organizationSlug');
        const body = {
          email: entered.text('email'),
          password: entered.raw('password'),
          ...(slug === undefined ? {} : { organizationSlug: slug }),
          ...deviceToken(),
          ...IN_COOKIE,
        };
        return (await openApi.POST('/api/v1/auth/login', { body })).data!;
      }}
    >
      <TextField name="email" label="E-mail" type="email" autoComplete="username" autoFocus />
      <TextField name="password" label="Password" type="password" autoComplete="current-password" />
      {asksSlug ? (
        <TextField
          name="organizationSlug"
          label="Organization"
          required={false}
          help="Its short name, when your address belongs to several. It is in your invitation."
        />
      ) : (
        <button type="button" className="link" onClick={() => setAsksSlug(true)}>
          Several organizations?
        </button>
      )}
    </Form>
  );
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];

/**
 * The token of a link that `npm start` prints. Only on the machine it was printed on: elsewhere, such a link could sign
 * somebody in as somebody else.
 */
function takeOneTimeToken(): string | null {
  const token = new URLSearchParams(location.hash.slice(1)).get('refreshToken');
  if (token === null) return null;
  history.replaceState(null, '', location.pathname + location.search);
  return LOOPBACK.includes(location.hostname) ? token : null;
}

function OneTimeSignIn({ token }: { readonly token: string }) {
  const [failed, setFailed] = useState<unknown>(null);
  useEffect(() => {
    refresh(token)
      .then((isIn) => {
        if (!isIn && currentSignIn().state !== 'in') location.reload();
      })
      .catch(setFailed);
  }, [token]);
  return <Alone>{failed ? <Problem error={failed} /> : <Loading what="Signing in" />}</Alone>;
}
