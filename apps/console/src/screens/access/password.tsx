import { useState } from 'react';
import { api, type Schemas } from '../../api';
import { Form, Notice, Section, TextField } from '../../ui';

/** A new password. The rules come with a refusal: the API says them to nobody else than administrators before. */
export function PasswordSection({ me }: { readonly me: Schemas['MeDto'] }) {
  const [times, setTimes] = useState(0);
  return (
    <Section title="Password">
      {times > 0 ? (
        <Notice tone="good" announced>
          Your password is changed. Your other sign-ins have ended.
        </Notice>
      ) : null}
      <Form
        // empty again
        key={times}
        submit="Change the password"
        onDone={() => setTimes(times + 1)}
        send={(entered) => {
          const body = {
            currentPassword: entered.raw('currentPassword'),
            newPassword: entered.raw('newPassword'),
          };
          return api.POST('/api/v1/auth/change-password', { body });
        }}
      >
        <input type="hidden" autoComplete="username" value={me.email} readOnly />
        <TextField
          name="currentPassword"
          label="Current password"
          type="password"
          autoComplete="current-password"
        />
        <TextField
          name="newPassword"
          label="New password"
          type="password"
          autoComplete="new-password"
          help="Your other sign-ins end with it."
        />
      </Form>
    </Section>
  );
}
