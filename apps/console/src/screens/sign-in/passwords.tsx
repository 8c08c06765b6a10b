import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { openApi, signOut } from '../../api';
import { useSignIn } from '../../layout/me';
import { Action, ButtonLink, Form, Loaded, Notice, Page, TextField } from '../../ui';
import { IN_COOKIE, NewPassword, SignsIn, type Holder, type OnAnswer } from './steps';

/** Asks for a link by mail. The answer is the same whether the address is known or not. */
export function ForgotPassword() {
  const [sentTo, setSentTo] = useState<string | null>(null);
  return (
    <Page title="Forgot your password?">
      {sentTo ? (
        <Notice tone="good" announced>
          If {sentTo} has an account, a link is on its way. It works once, within an hour.
        </Notice>
      ) : (
        <Form
          submit="Send the link"
          onDone={setSentTo}
          send={async (entered) => {
            const email = entered.text('email');
            await openApi.POST('/api/v1/auth/forgot-password', { body: { email } });
            return email;
          }}
        >
          <TextField name="email" label="E-mail" type="email" autoComplete="username" autoFocus />
        </Form>
      )}
      <Link to="/sign-in">To the sign-in</Link>
    </Page>
  );
}

/** What a mailed invitation opens. */
export const AcceptInvitation = () => (
  <WithLink>
    {(token, holder, onAnswer) => (
      <Page title={`Welcome to ${holder.organizationName}`} lead={`You sign in as ${holder.email}.`}>
        <WithCompany slug={holder.organizationSlug}>
          <Form
            submit="Accept the invitation"
            onDone={onAnswer}
            send={async (entered) => {
              const given = { name: entered.text('name'), password: entered.raw('password') };
              const body = { inviteToken: token, ...given, ...IN_COOKIE };
              return (await openApi.POST('/api/v1/auth/set-password', { body })).data!;
            }}
          >
            <TextField name="name" label="Your name" autoComplete="name" defaultValue={holder.name} />
            <NewPassword name="password" holder={holder} />
          </Form>
        </WithCompany>
      </Page>
    )}
  </WithLink>
);

/**
 * A form with a password, behind the sign-in with the company where the organization has one: it comes first. Browsers
 * do it with https and on their own machine only.
 */
function WithCompany({ slug, children }: { readonly slug: string; readonly children: ReactNode }) {
  const offered = useQuery({
    queryKey: ['company-sign-in', slug],
    queryFn: async () =>
      (await openApi.GET('/api/v1/auth/sso/{slug}/providers', { params: { path: { slug } } })).data!,
  });
  return (
    <Loaded query={offered}>
      {({ items }) =>
        items.length === 0 || !window.isSecureContext ? (
          children
        ) : (
          <>
            <ButtonLink to="/sign-in/company" search={{ organization: slug }}>
              Sign in with your company
            </ButtonLink>
            <details>
              <summary>Set a password instead</summary>
              {children}
            </details>
          </>
        )
      }
    </Loaded>
  );
}

/** What a mailed link to a new password opens. */
export const ResetPassword = () => (
  <WithLink>
    {(token, holder, onAnswer) => (
      <Page title="Set a new password" lead={`Of ${holder.email} at ${holder.organizationName}.`}>
        <Form
          submit="Set the password and sign in"
          onDone={onAnswer}
          send={async (entered) => {
            const body = { token, newPassword: entered.raw('newPassword'), ...IN_COOKIE };
            return (await openApi.POST('/api/v1/auth/reset-password', { body })).data!;
          }}
        >
          <NewPassword name="newPassword" holder={holder} />
        </Form>
      </Page>
    )}
  </WithLink>
);

type FormOf = (token: string, holder: Holder, onAnswer: OnAnswer) => ReactNode;

/** Reads whose link it is, without using it up. */
function WithLink({ children }: { readonly children: FormOf }) {
  const { token = '' } = useParams({ strict: false });
  const [isFree, setFree] = useState(useSignIn().state === 'out');
  const holder = useQuery({
    queryKey: ['password-link', token],
    queryFn: async () => (await openApi.POST('/api/v1/auth/password-link', { body: { token } })).data!,
    enabled: isFree,
    // a link that was just used is none any more
    staleTime: 'static',
    refetchInterval: false,
  });
  if (!isFree) {
    return (
      <Page title="Another person is signed in here">
        <Notice>This link sets a password. Sign out first if it is meant for another account.</Notice>
        <Action label="Sign out and go on" kind="primary" act={() => signOut().then(() => setFree(true))} />
        <Link to="/">To the start</Link>
      </Page>
    );
  }
  return (
    <SignsIn next="/">
      {(onAnswer) => (
        <>
          <Loaded query={holder}>{(data) => children(token, data, onAnswer)}</Loaded>
          {holder.error ? <Link to="/sign-in">To the sign-in</Link> : null}
        </>
      )}
    </SignsIn>
  );
}
