import { useState, type ReactNode } from 'react';
import { $api, api } from '../../api';
import { credentialTypeOf, isForMany, providerOf, type Credential } from '../../parts/types';
import type { ProviderTypes } from '../../parts/types';
import { Action, Badge, CheckField, Copyable, Facts, Form, FormButton, Loaded, Muted } from '../../ui';
import { Notice, Row, Section, SelectField, Stack, TextField, Time, useTyped } from '../../ui';
import { CredentialFields, credentialDataOf } from './fields';

/** Asks the provider. Its refusal is part of the credential, not a failure. */
const verifyCredential = async (id: string): Promise<Credential> =>
  (await api.POST('/api/v1/credentials/{id}/verify', { params: { path: { id } } })).data!;

/** Commands that make the provider trust a credential. undefined: it needs none */
const setupOf = ({ setup, identity }: Credential): string | undefined => setup ?? identity?.setup;

/** What the provider has to allow, to be pasted there. */
export const Policy = ({ of, text = of.resourceTypes[0]!.policy, open = false }: PolicyProps) => (
  <details open={open}>
    <summary>Permissions it needs, to paste into {of.label}</summary>
    <Copyable text={text} label={`Policy for ${of.label}`} />
  </details>
);

interface PolicyProps {
  readonly of: ProviderTypes;
  /** left out: for the first of its types of resources */
  readonly text?: string;
  readonly open?: boolean;
}

/** What the provider has to allow for the types of resources that are chosen, and the commands that make it do so. */
function SetUp({ of, provider }: { of: Credential; provider: ProviderTypes }) {
  const [chosen, choose] = useState([provider.resourceTypes[0]!.resourceType]);
  const [below, setBelow] = useState('');
  const scope = useTyped(below);
  const query = { resourceType: chosen, ...(scope ? { scope } : {}) };
  const params = { path: { id: of.id }, query };
  const answer = $api.useQuery('get', '/api/v1/credentials/{id}/setup', { params });
  return (
    <Stack>
      {provider.resourceTypes.length > 1 ? (
        <fieldset>
          <legend>What it is to open</legend>
          {provider.resourceTypes.map(({ resourceType, label }) => (
            <CheckField
              key={resourceType}
              name=""
              label={label}
              checked={chosen.includes(resourceType)}
              onChange={({ target }) => {
                const others = chosen.filter((each) => each !== resourceType);
                const next = target.checked ? [...chosen, resourceType] : others;
                if (next.length > 0) choose(next);
              }}
            />
          ))}
        </fieldset>
      ) : null}
      {isForMany(of) ? (
        <TextField
          name=""
          label="Accounts below"
          required={false}
          placeholder="ou-abcd-12345678"
          value={below}
          onChange={({ target }) => setBelow(target.value)}
          help="An organizational unit or the root: once for all of its accounts, those to come included. Empty: in each account by itself."
        />
      ) : null}
      <Loaded query={answer}>
        {({ setup, policy }) => (
          <>
            {setup === undefined ? null : (
              <>
                <p>
                  Run this where you are signed in to {provider.label}, so that it trusts this credential:
                </p>
                <Copyable text={setup} label="Commands" />
              </>
            )}
            <Policy of={provider} text={policy} />
          </>
        )}
      </Loaded>
    </Stack>
  );
}

interface CredentialFormProps {
  readonly types: readonly ProviderTypes[];
  readonly onDone: (credential: Credential) => void;
}

/** Makes a credential, and asks its provider about it, unless the provider has to know of it first. */
export function CredentialForm({ types, onDone }: CredentialFormProps) {
  const [{ provider, credentialType }, choose] = useState({ provider: '', credentialType: '' });
  const chosen = types.find((each) => each.provider === provider) ?? types[0]!;
  const kinds = chosen.credentialTypes;
  const type = kinds.find((each) => each.credentialType === credentialType) ?? kinds[0]!;
  return (
    <Form
      submit={type.setup ? 'Save' : 'Save and verify'}
      busy={`Asking ${chosen.label}…`}
      onDone={onDone}
      send={async (entered) => {
        const body = {
          name: entered.text('name'),
          provider: chosen.provider,
          credentialType: type.credentialType,
          ...credentialDataOf(entered, type),
        };
        const made = (await api.POST('/api/v1/credentials', { body })).data!;
        return setupOf(made) === undefined ? verifyCredential(made.id) : made;
      }}
    >
      <SelectField
        name="provider"
        label="Where are your rules?"
        value={chosen.provider}
        onChange={(value) => choose({ provider: value, credentialType: '' })}
        options={types.map((each) => [each.provider, each.label])}
      />
      {kinds.length > 1 ? (
        <SelectField
          name="credentialType"
          label="Kind of credential"
          value={type.credentialType}
          onChange={(value) => choose({ provider: chosen.provider, credentialType: value })}
          options={kinds.map((each) => [each.credentialType, each.label])}
        />
      ) : null}
      <Policy of={chosen} />
      <Stack key={`${chosen.provider} ${type.credentialType}`}>
        <CredentialFields type={type} />
        <TextField name="name" label="Name" defaultValue={chosen.label} />
      </Stack>
    </Form>
  );
}

/** By the values of the filter `state`. */
export const VALIDITY = { VALID: 'accepted', INVALID: 'refused', UNCHECKED: 'not verified yet' };

/** Whether the provider accepts a credential. */
export function CredentialBadge({ of: { isValid } }: { of: { isValid: boolean | null } }) {
  if (isValid === null) return <Badge>{VALIDITY.UNCHECKED}</Badge>;
  return <Badge tone={isValid ? 'good' : 'bad'}>{isValid ? VALIDITY.VALID : VALIDITY.INVALID}</Badge>;
}

interface CredentialDetailsProps {
  readonly of: Credential;
  readonly types: readonly ProviderTypes[];
  /** further buttons */
  readonly children: ReactNode;
}

/** A credential, what its provider says of it, and what the provider has to know, to paste there. */
export function CredentialDetails({ of, types, children }: CredentialDetailsProps) {
  const provider = providerOf(types, of);
  const type = credentialTypeOf(types, of);
  return (
    <Section title="Credential">
      {of.isValid === false ? (
        <Notice tone="bad" announced>
          <strong>
            {provider.label} refuses this credential{isForMany(of) ? ' in an account' : ''}
          </strong>
          <p>{of.verificationError}</p>
        </Notice>
      ) : null}
      <Facts
        of={{
          Provider: provider.label,
          Kind: type.label,
          State: <CredentialBadge of={of} />,
          'Last verified': <Time at={of.lastVerifiedAt} none="never" />,
          'External ID': of.externalId,
          Issuer: of.identity?.issuer,
          Subject: of.identity?.subject,
          ...Object.fromEntries(type.fields.map(({ label, name }) => [label, of.hints[name]])),
        }}
      />
      <SetUp of={of} provider={provider} />
      <Row>
        <Action label="Verify now" busy={`Asking ${provider.label}…`} act={() => verifyCredential(of.id)} />
        {type.fields.length > 0 ? (
          <FormButton
            label={of.isValid === false ? 'Correct it' : 'Replace fields'}
            kind={of.isValid === false ? 'primary' : 'normal'}
            title={`Replace the fields of ${of.name}`}
            submit="Save and verify"
            busy={`Asking ${provider.label}…`}
            send={async (entered) => {
              const body = credentialDataOf(entered, type);
              await api.PATCH('/api/v1/credentials/{id}', { params: { path: { id: of.id } }, body });
              return verifyCredential(of.id);
            }}
          >
            {of.isValid === false ? null : (
              <Muted>The new ones are used at once. Once they are accepted, revoke the old ones.</Muted>
            )}
            <CredentialFields type={type} hints={of.hints} />
          </FormButton>
        ) : null}
        {children}
      </Row>
    </Section>
  );
}
