import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { acceptTokens, deviceToken, openApi, type Schemas } from '../../api';
import { Form, Loading, Notice, Page, TextField } from '../../ui';

type LoginAnswer = Schemas['LoginAnswerDto'];

/** The refresh token goes into a cookie that no script reads. */
export const IN_COOKIE = { refreshTokenIn: 'cookie' } as const;

/** What follows a password: nothing, a code, or a new password. The screen around it leaves once tokens have come. */
export function Steps({ answer }: { readonly answer: LoginAnswer }) {
  const [current, setCurrent] = useState(answer);
  useEffect(() => acceptTokens(current), [current]);
  if (current.passwordExpired && current.passwordChangeToken)
    return <ExpiredPassword token={current.passwordChangeToken} onAnswer={setCurrent} />;
  if (current.mfaRequired && current.mfaChallengeToken)
    return <SecondFactor token={current.mfaChallengeToken} onAnswer={setCurrent} />;
  return <Loading what="Signing in" />;
}

interface StepProps {
  readonly token: string;
  readonly onAnswer: (answer: LoginAnswer) => void;
}

function SecondFactor({ token, onAnswer }: StepProps) {
  const [usesRecovery, setRecovery] = useState(false);
  return (
    <Page title="Second factor">
      <Form
        key={String(usesRecovery)}
        submit="Sign in"
        busy="Signing in…"
        onDone={onAnswer}
        send={async (entered) => {
          const code = entered.text('code').replaceAll(' ', '');
          const body = { code, mfaChallengeToken: token, ...deviceToken(), ...IN_COOKIE };
          return (await openApi.POST('/api/v1/auth/verify-mfa', { body })).data!;
        }}
      >
        {usesRecovery ? (
          <TextField
            name="code"
            label="Recovery code"
            autoComplete="off"
            autoFocus
            help="One of the codes you were given with the second factor. Each works once."
          />
        ) : (
          <TextField
            name="code"
            label="Code"
            inputMode="numeric"
            autoComplete="one-time-code"
            autoFocus
            help="The six digits that your authenticator shows now."
          />
        )}
      </Form>
      <button type="button" className="link" onClick={() => setRecovery(!usesRecovery)}>
        {usesRecovery ? 'Use the authenticator' : 'Authenticator lost? Use a recovery code'}
      </button>
      <Link to="/sign-in" reloadDocument>
        Start again
      </Link>
    </Page>
  );
}

function ExpiredPassword({ token, onAnswer }: StepProps) {
  return (
    <Page title="Your password has expired">
      <Notice>Your organization asks for a new one from time to time. The old one ends now.</Notice>
      <Form
        submit="Set the password and sign in"
        onDone={onAnswer}
        send={async (entered) => {
          const body = { newPassword: entered.raw('newPassword'), passwordChangeToken: token, ...IN_COOKIE };
          return (await openApi.POST('/api/v1/auth/change-expired-password', { body })).data!;
        }}
      >
        <TextField
          name="newPassword"
          label="New password"
          type="password"
          autoComplete="new-password"
          autoFocus
        />
      </Form>
    </Page>
  );
}
