import { Link, Navigate } from '@tanstack/react-router';
import { useState } from 'react';
import { openApi, type Schemas } from '../../api';
import { useSignIn } from '../../layout/me';
import { Alone } from '../../layout/shell';
import { Form, Page, TextField } from '../../ui';
import { IN_COOKIE, Steps } from './steps';

/** A new organization and its first administrator. */
export function Register() {
  const [answer, setAnswer] = useState<Schemas['LoginAnswerDto'] | null>(null);
  if (useSignIn().state === 'in') return <Navigate to="/set-up" replace />;
  return (
    <Alone>
      {answer ? (
        <Steps answer={answer} />
      ) : (
        <Page title="Register an organization" lead="You become its first administrator.">
          <Form
            submit="Register"
            onDone={setAnswer}
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
    </Alone>
  );
}
