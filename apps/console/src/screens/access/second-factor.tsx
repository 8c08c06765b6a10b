import { useState } from 'react';
import { api } from '../../api';
import { Badge, Button, ConfirmButton, DialogButton, Form, Row, Section, TextField } from '../../ui';
import { MfaSetup, RecoveryCodes } from '../sign-in/mfa-setup';

/** On: new recovery codes, or off. Off: set it up. */
export function SecondFactor({ isOn }: { readonly isOn: boolean }) {
  const [isSettingUp, setSettingUp] = useState(false);
  return (
    <Section title="Second factor">
      <p>
        <Badge tone={isOn ? 'good' : 'neutral'}>{isOn ? 'On' : 'Off'}</Badge>{' '}
        {isOn
          ? 'A code of your authenticator follows your password.'
          : 'With it, your password alone signs nobody in.'}
      </p>
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
                <CodeField />
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
      onDone={setCodes}
      onCancel={onDone}
      send={async (entered) => {
        const body = { code: entered.code('code') };
        return (await api.POST('/api/v1/mfa/recovery-codes/regenerate', { body })).data!.recoveryCodes;
      }}
    >
      <p>The codes that you have now become invalid.</p>
      <CodeField />
    </Form>
  );
}

const CodeField = () => (
  <TextField
    name="code"
    label="Code"
    autoComplete="one-time-code"
    help="What your authenticator shows now, or a recovery code."
  />
);
