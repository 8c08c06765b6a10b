import { useState } from 'react';
import { api } from '../../api';
import { Action, ConfirmButton, Copyable, Notice, Row, Stack } from '../../ui';
import { PASS_ON } from './invite';
import type { User } from './parts';

/** For a person who cannot sign in: another invitation, a link for a new password, a new second factor. */
export function SignInHelp({ user: { id, name, status, isService, mfaEnabled } }: { readonly user: User }) {
  const [link, setLink] = useState<string | null>(null);
  if (isService || status === 'INACTIVE') return null;
  const params = { path: { id } };
  const resend = async (): Promise<void> => {
    const { data } = await api.POST('/api/v1/users/{id}/resend-invitation', { params });
    setLink(data!.invitationUrl);
  };
  const passwordLink = async (): Promise<void> => {
    const { data } = await api.POST('/api/v1/users/{id}/password-link', { params });
    setLink(data!.passwordResetUrl);
  };
  return (
    <>
      <Row>
        {status === 'INVITED' ? (
          <Action label="Resend the invitation" act={resend} />
        ) : (
          <Action label="Get a password link" act={passwordLink} />
        )}
        {mfaEnabled ? (
          <ConfirmButton
            label="Reset the second factor"
            title={`Reset the second factor of ${name}?`}
            act={() => api.POST('/api/v1/users/{id}/reset-mfa', { params })}
          >
            <p>
              The authenticator and recovery codes of {name} stop working, and the password alone signs in
              until a new one is set up. Be sure that it is {name} who asks.
            </p>
          </ConfirmButton>
        ) : null}
      </Row>
      {link ? (
        <Stack>
          <Notice tone="good" announced>
            {status === 'INVITED' ? PASS_ON : 'Pass this link on. It works once, within an hour.'}
          </Notice>
          <Copyable text={link} label={`Link for ${name}`} />
        </Stack>
      ) : null}
    </>
  );
}
