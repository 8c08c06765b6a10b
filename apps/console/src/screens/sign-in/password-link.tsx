import { useQuery } from '@tanstack/react-query';
import { Link, Navigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { openApi, signOut, type Schemas } from '../../api';
import { Resume } from '../../layout/roots';
import { useSignIn } from '../../layout/me';
import { Alone } from '../../layout/shell';
import { Action, Facts, Form, Loaded, Notice, Page, TextField } from '../../ui';
import { IN_COOKIE, Steps } from './steps';

type Answer = Schemas['LoginAnswerDto'];
type Holder = Schemas['PasswordLinkUseDto'];

interface LinkProps {
  readonly token: string;
}

/** What a mailed invitation opens. */
export const AcceptInvitation = ({ token }: LinkProps) => (
  <WithLink token={token}>
    {(holder, onAnswer) => (
      <Page title={`Welcome to ${holder.organizationName}`}>
        <Form
          submit="Accept the invitation"
          onDone={onAnswer}
          send={async (entered) => {
            const body = {
              inviteToken: token,
              name: entered.text('name'),
              password: entered.raw('password'),
              ...IN_COOKIE,
            };
            return (await openApi.POST('/api/v1/auth/set-password', { body })).data!;
          }}
        >
          <Facts of={{ 'E-mail': holder.email }} />
          <TextField name="name" label="Your name" autoComplete="name" defaultValue={holder.name} />
          <NewPassword name="password" holder={holder} />
        </Form>
      </Page>
    )}
  </WithLink>
);

/** What a mailed link to a new password opens. */
export const ResetPassword = ({ token }: LinkProps) => (
  <WithLink token={token}>
    {(holder, onAnswer) => (
      <Page title="Set a new password">
        <Form
          submit="Set the password and sign in"
          onDone={onAnswer}
          send={async (entered) => {
            const body = { token, newPassword: entered.raw('newPassword'), ...IN_COOKIE };
            return (await openApi.POST('/api/v1/auth/reset-password', { body })).data!;
          }}
        >
          <Facts of={{ Organization: holder.organizationName, 'E-mail': holder.email }} />
          <NewPassword name="newPassword" holder={holder} />
        </Form>
      </Page>
    )}
  </WithLink>
);

const NewPassword = ({ name, holder }: { name: string; holder: Holder }) => (
  <>
    <input type="hidden" autoComplete="username" value={holder.email} readOnly />
    <TextField
      name={name}
      label="New password"
      type="password"
      autoComplete="new-password"
      autoFocus
      help={holder.passwordRules}
    />
  </>
);

interface WithLinkProps extends LinkProps {
  readonly children: (holder: Holder, onAnswer: (answer: Answer) => void) => ReactNode;
}

/** Reads whose link it is, without using it up; leaves once the link has signed somebody in. */
function WithLink({ token, children }: WithLinkProps) {
  const signIn = useSignIn();
  const [answer, setAnswer] = useState<Answer | null>(null);
  const holder = useQuery({
    queryKey: ['password-link', token],
    queryFn: async () => (await openApi.POST('/api/v1/auth/password-link', { body: { token } })).data!,
    enabled: signIn.state === 'out' && answer === null,
    refetchInterval: false,
    refetchOnWindowFocus: false,
  });
  if (signIn.state === 'unknown') return <Resume />;
  if (signIn.state === 'in') return answer ? <Navigate to="/" replace /> : <SignedInAlready />;
  if (answer)
    return (
      <Alone>
        <Steps answer={answer} />
      </Alone>
    );
  return (
    <Alone>
      <Loaded query={holder}>{(data) => children(data, setAnswer)}</Loaded>
      {holder.error ? <Link to="/sign-in">To the sign-in</Link> : null}
    </Alone>
  );
}

const SignedInAlready = () => (
  <Alone>
    <Page title="Somebody is signed in here">
      <Notice>This link is for setting a password. Sign out first if it is meant for another account.</Notice>
      <Action label="Sign out and go on" kind="primary" act={() => signOut()} />
      <Link to="/">To the start</Link>
    </Page>
  </Alone>
);
