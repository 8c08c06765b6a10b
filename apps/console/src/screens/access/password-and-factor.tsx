import { useState } from 'react';
import { api } from '../../api';
import { Badge, Button, CodeField, ConfirmButton, DialogButton, Form, FormButton } from '../../ui';
import { Row, Section, TextField } from '../../ui';
import { MfaSetup, RecoveryCodes } from '../sign-in/mfa-setup';

/** A new password. Its rules come with a refusal: the API says them to administrators alone before. */
export const PasswordButton = ({ email }: { readonly email: string }) => (
  <FormButton
    label="Change the password"
    title="Change the password"
    submit="Change it"
    send={(entered) => {
      const newPassword = entered.raw('newPassword');
      const body = { currentPassword: entered.raw('currentPassword'), newPassword };
      return api.POST('/api/v1/auth/change-password', { body });
    }}
  >
    <input type="hidden" autoComplete="username" value={email} readOnly />
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
  </FormButton>
);

/** On: new recovery codes, or off. Off: set it up. */
export function SecondFactor({ isOn }: { readonly isOn: boolean }) {
  const [isSettingUp, setSettingUp] = useState(false);
  return (
    <Section
      title="Second factor"
      actions={<Badge tone={isOn ? 'good' : 'neutral'}>{isOn ? 'On' : 'Off'}</Badge>}
    >
      {isSettingUp ? (
        <MfaSetup onDone={() => setSettingUp(false)} />
      ) : (
        <Row>
          {isOn ? (
            <>
              <DialogButton label="New recovery codes" title="New recovery codes">
                {(close) => <NewCodes onDone={close} />}
              </DialogButton>
              <ConfirmButton
                label="Turn off"
                title="Turn off your second factor?"
                confirm="Turn it off"
                act={(entered) => api.POST('/api/v1/mfa/disable', { body: { code: entered.code('code') } })}
              >
                <p>Your password alone signs you in then. Your recovery codes become invalid.</p>
                {PROOF}
              </ConfirmButton>
            </>
          ) : (
            <Button kind="primary" onClick={() => setSettingUp(true)}>
              Set it up
            </Button>
          )}
        </Row>
      )}
    </Section>
  );
}

function NewCodes({ onDone }: { readonly onDone: () => void }) {
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  if (codes) return <RecoveryCodes codes={codes} onDone={onDone} />;
  return (
    <Form
      submit="Replace the codes"
      onCancel={onDone}
      send={(entered) => {
        const body = { code: entered.code('code') };
        return api.POST('/api/v1/mfa/recovery-codes/regenerate', { body });
      }}
      onDone={({ data }) => setCodes(data!.recoveryCodes)}
    >
      <p>The codes that you have now become invalid.</p>
      {PROOF}
    </Form>
  );
}

const PROOF = <CodeField help="What your authenticator shows now, or a recovery code." />;
