import { Link, Navigate } from '@tanstack/react-router';
import { useEffect, useState, type ReactNode } from 'react';
import { acceptTokens, deviceToken, openApi, type Schemas } from '../../api';
import { useSignIn } from '../../layout/me';
import { CodeField, Form, Loading, Notice, Page, TextField } from '../../ui';

type Answer = Schemas['LoginAnswerDto'];
export type Holder = Schemas['PasswordLinkUseDto'];
export type OnAnswer = (answer: Answer) => void;

/** The refresh token goes into a cookie that no script reads. */
export const IN_COOKIE = { refreshTokenIn: 'cookie' } as const;

/** A form with a password, and what follows it: nothing, a code, or a new password. @param next where to go then */
export function SignsIn({ next, children }: { next: string; children: (onAnswer: OnAnswer) => ReactNode }) {
  const [answer, setAnswer] = useState<Answer | null>(null);
  useEffect(() => {
    if (answer) acceptTokens(answer);
  }, [answer]);
  // an address with what its screen filters by, too
  if (useSignIn().state === 'in') return <Navigate to="/" href={next} replace />;
  if (!answer) return children(setAnswer);
  if (answer.passwordExpired && answer.passwordChangeToken)
    return <ExpiredPassword token={answer.passwordChangeToken} onAnswer={setAnswer} />;
  if (answer.mfaRequired && answer.mfaChallengeToken)
    return <SecondFactor token={answer.mfaChallengeToken} onAnswer={setAnswer} />;
  return <Loading what="Signing in" />;
}

function SecondFactor({ token, onAnswer }: { token: string; onAnswer: OnAnswer }) {
  const [usesRecovery, setRecovery] = useState(false);
  return (
    <Page title="Second factor">
      <Form
        key={String(usesRecovery)}
        submit="Sign in"
        busy="Signing in…"
        onDone={onAnswer}
        send={async (entered) => {
          const body = {
            code: entered.code('code'),
            mfaChallengeToken: token,
            ...deviceToken(),
            ...IN_COOKIE,
          };
          return (await openApi.POST('/api/v1/auth/verify-mfa', { body })).data!;
        }}
      >
        <CodeField
          label={usesRecovery ? 'Recovery code' : 'Code'}
          inputMode={usesRecovery ? 'text' : 'numeric'}
          autoFocus
          help={usesRecovery ? 'Each works once.' : 'The six digits that your authenticator shows now.'}
        />
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

const ExpiredPassword = ({ token, onAnswer }: { token: string; onAnswer: OnAnswer }) => (
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
      <NewPassword name="newPassword" />
    </Form>
  </Page>
);

/** @param holder left out: known from the steps before */
export const NewPassword = ({ name, holder }: { name: string; holder?: Holder }) => (
  <>
    {/* for programs that keep passwords */}
    {holder ? <input type="hidden" autoComplete="username" value={holder.email} readOnly /> : null}
    <TextField
      name={name}
      label="New password"
      type="password"
      autoComplete="new-password"
      autoFocus
      help={holder?.passwordRules}
    />
  </>
);
