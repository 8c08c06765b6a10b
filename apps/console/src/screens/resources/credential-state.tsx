import type { Schemas } from '../../api';
import { Action, Badge, Copyable, Facts, Notice, Stack } from '../../ui';
import { Policy, setupOf, verifyCredential } from './credential-form';
import type { ProviderTypes } from './types';

type Credential = Schemas['CredentialDto'];

/** Whether the provider accepts a credential. */
export const CredentialBadge = ({ of: { isValid } }: { readonly of: Credential }) =>
  isValid === null ? (
    <Badge>not verified yet</Badge>
  ) : (
    <Badge tone={isValid ? 'good' : 'bad'}>{isValid ? 'accepted' : 'refused'}</Badge>
  );

/** Why the provider refused a credential, in its words. */
export const CredentialRefusal = ({
  of,
  provider,
}: {
  readonly of: Credential;
  provider: ProviderTypes | undefined;
}) =>
  of.isValid === false ? (
    <Notice tone="bad" announced>
      <strong>{provider?.label ?? of.provider} refuses this credential</strong>
      <p>{of.verificationError}</p>
    </Notice>
  ) : null;

/** What the provider has to know of a credential before it accepts it, to paste there. */
export function CredentialSetup({
  of,
  provider,
}: {
  readonly of: Credential;
  provider: ProviderTypes | undefined;
}) {
  const setup = setupOf(of);
  return (
    <Stack>
      {setup === undefined ? null : (
        <>
          <p>
            Run this where you are signed in to {provider?.label ?? of.provider}, so that it trusts this
            credential:
          </p>
          <Copyable text={setup} label="Commands" />
        </>
      )}
      <Facts
        of={{
          'External ID': of.externalId ? <Copyable text={of.externalId} label="External ID" /> : null,
          Issuer: of.identity ? <Copyable text={of.identity.issuer} label="Issuer" /> : null,
          Subject: of.identity ? <Copyable text={of.identity.subject} label="Subject" /> : null,
        }}
      />
      {provider ? <Policy of={provider} /> : null}
    </Stack>
  );
}

/** Asks the provider now. */
export const VerifyCredential = ({ id, onValid }: { readonly id: string; readonly onValid?: () => void }) => (
  <Action
    label="Verify now"
    busy="Asking the provider…"
    act={async () => {
      if ((await verifyCredential(id)).isValid) onValid?.();
    }}
  />
);
