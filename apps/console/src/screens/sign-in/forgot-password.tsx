import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { openApi } from '../../api';
import { Alone } from '../../layout/shell';
import { Form, Notice, Page, TextField } from '../../ui';

/** Asks for a link by mail. The answer is the same whether the address is known or not. */
export function ForgotPassword() {
  const [sentTo, setSentTo] = useState<string | null>(null);
  return (
    <Alone>
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
    </Alone>
  );
}
