import { useState } from 'react';
import { api } from '../../api';
import { Badge, Button, DialogButton, Form, Row, Section, Stack, TextField } from '../../ui';
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
      ) : isOn ? (
        <Row>
          <DialogButton label="New recovery codes" title="New recovery codes">
            {(close) => <NewCodes onDone={close} />}
          </DialogButton>
          <DialogButton label="Turn off" kind="danger" title="Turn off your second factor?">
            {(close) => <TurnOff onDone={close} />}
          </DialogButton>
        </Row>
      ) : (
        <Row>
          <Button kind="primary" onClick={() => setSettingUp(true)}>
            Set it up
          </Button>
        </Row>
      )}
    </Section>
  );
}

interface StepProps {
  readonly onDone: () => void;
}

function NewCodes({ onDone }: StepProps) {
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  if (codes) return <RecoveryCodes codes={codes} onDone={onDone} />;
  return (
    <Form
      submit="Replace the codes"
      onDone={setCodes}
      onCancel={onDone}
      send={async (entered) => {
        const body = { code: codeOf(entered.text('code')) };
        return (await api.POST('/api/v1/mfa/recovery-codes/regenerate', { body })).data!.recoveryCodes;
      }}
    >
      <p>The codes that you have now become invalid.</p>
      <CodeField />
    </Form>
  );
}

const TurnOff = ({ onDone }: StepProps) => (
  <Form
    submit="Turn it off"
    submitKind="danger"
    onDone={onDone}
    onCancel={onDone}
    send={(entered) => api.POST('/api/v1/mfa/disable', { body: { code: codeOf(entered.text('code')) } })}
  >
    <Stack>
      <p>From then on, your password alone signs you in. Your recovery codes become invalid.</p>
      <CodeField />
    </Stack>
  </Form>
);

const codeOf = (entered: string): string => entered.replaceAll(' ', '');

const CodeField = () => (
  <TextField
    name="code"
    label="Code"
    autoComplete="one-time-code"
    help="What your authenticator shows now, or a recovery code."
  />
);
