import { api, type Schemas } from '../../api';
import { DialogButton, Form, Muted } from '../../ui';
import { CredentialFields, credentialDataOf } from './credential-fields';
import { verifyCredential } from './credential-form';
import type { CredentialType } from './types';

type Credential = Schemas['CredentialDto'];

interface Props {
  readonly of: Credential;
  readonly type: CredentialType | undefined;
  readonly onValid?: () => void;
}

/** Gives a credential other secrets, and asks the provider about them. */
export const ReplaceSecrets = ({ of: { id, name, hints }, type, onValid }: Props) =>
  type && type.fields.length > 0 ? (
    <DialogButton label="Replace fields" title={`Replace the fields of ${name}`}>
      {(close) => (
        <Form
          submit="Save and verify"
          busy="Asking the provider…"
          onCancel={close}
          send={async (entered) => {
            const credentialData = credentialDataOf(entered, type);
            const body = credentialData === undefined ? {} : { credentialData };
            await api.PATCH('/api/v1/credentials/{id}', { params: { path: { id } }, body });
            return verifyCredential(id);
          }}
          onDone={({ isValid }) => {
            close();
            if (isValid) onValid?.();
          }}
        >
          <Muted>The new ones are used at once. When they are accepted, revoke the old ones there.</Muted>
          <CredentialFields type={type} hints={hints} />
        </Form>
      )}
    </DialogButton>
  ) : null;
