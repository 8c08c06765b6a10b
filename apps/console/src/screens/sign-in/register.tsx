import { Link } from '@tanstack/react-router';
import { openApi } from '../../api';
import { Form, Page, TextField } from '../../ui';
import { IN_COOKIE, SignsIn } from './steps';

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
