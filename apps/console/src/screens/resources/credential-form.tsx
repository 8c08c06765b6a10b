import { useState } from 'react';
import { api, type Schemas } from '../../api';
import { Copyable, Form, SelectField, Stack, TextField } from '../../ui';
import { CredentialFields, credentialDataOf } from './credential-fields';
import type { ProviderTypes } from './types';

interface Props {
  readonly types: readonly ProviderTypes[];
  readonly onDone: (credential: Schemas['CredentialDto']) => void;
}

/** Makes a credential, and asks its provider about it, unless the provider has to be told of it first. */
export function CredentialForm({ types, onDone }: Props) {
  const [provider, setProvider] = useState(types[0]!);
  const [type, setType] = useState(provider.credentialTypes[0]!);
  const choose = (name: string): void => {
    const chosen = types.find((each) => each.provider === name)!;
    setProvider(chosen);
    setType(chosen.credentialTypes[0]!);
  };
  return (
    <Form
      submit={type.setup ? 'Save' : 'Save and verify'}
      busy={`Asking ${provider.label}…`}
      onDone={onDone}
      send={async (entered) => {
        const credentialData = credentialDataOf(entered, type);
        const body = {
          name: entered.text('name'),
          provider: provider.provider,
          credentialType: type.credentialType,
          ...(credentialData === undefined ? {} : { credentialData }),
        };
        const made = (await api.POST('/api/v1/credentials', { body })).data!;
        return setupOf(made) === undefined ? verifyCredential(made.id) : made;
      }}
    >
      <SelectField
        name="provider"
        label="Where are your rules?"
        value={provider.provider}
        onChange={choose}
        options={types.map((each) => [each.provider, each.label])}
      />
      {provider.credentialTypes.length > 1 ? (
        <SelectField
          name="credentialType"
          label="Kind of credential"
          value={type.credentialType}
          onChange={(name) => setType(provider.credentialTypes.find((each) => each.credentialType === name)!)}
          options={provider.credentialTypes.map((each) => [each.credentialType, each.label])}
          {...(type.setup ? { help: 'The commands that make the provider trust it come next.' } : {})}
        />
      ) : null}
      <Policy of={provider} />
      <Stack key={`${provider.provider} ${type.credentialType}`}>
        <CredentialFields type={type} />
        <TextField
          name="name"
          label="Name"
          defaultValue={provider.label}
          help="For you and your colleagues."
        />
      </Stack>
    </Form>
  );
}

/** Commands that make the provider trust a credential. undefined: it needs none */
export const setupOf = ({ setup, identity }: Schemas['CredentialDto']): string | undefined =>
  setup ?? identity?.setup;

/** Asks the provider. Its refusal is part of the credential, not a failure. */
export const verifyCredential = async (id: string): Promise<Schemas['CredentialDto']> =>
  (await api.POST('/api/v1/credentials/{id}/verify', { params: { path: { id } } })).data!;

/** What the provider has to allow, to be pasted there. */
export const Policy = ({ of, open = false }: { readonly of: ProviderTypes; readonly open?: boolean }) => (
  <details open={open}>
    <summary>Permissions it needs, to paste into {of.label}</summary>
    <Copyable text={of.policy} label={`Policy for ${of.label}`} />
  </details>
);
