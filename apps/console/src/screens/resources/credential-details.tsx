import type { ReactNode } from 'react';
import type { Schemas } from '../../api';
import { Action, Badge, Copyable, Facts, Notice, Row, Section, Stack, Time } from '../../ui';
import { Policy, setupOf, verifyCredential } from './credential-form';
import { ReplaceSecrets } from './replace-secrets';
import { credentialTypeOf, providerOf, type ProviderTypes } from './types';

type Credential = Schemas['CredentialDto'];

/** Whether the provider accepts a credential. */
export const CredentialBadge = ({ of: { isValid } }: { readonly of: Credential }) =>
  isValid === null ? (
    <Badge>not verified yet</Badge>
  ) : (
    <Badge tone={isValid ? 'good' : 'bad'}>{isValid ? 'accepted' : 'refused'}</Badge>
  );

interface Props {
  readonly of: Credential;
  readonly types: readonly ProviderTypes[];
  readonly onValid?: () => void;
  /** further buttons */
  readonly children?: ReactNode;
}

/** A credential, what its provider says of it, and what the provider has to know, to paste there. */
export function CredentialDetails({ of, types, onValid, children }: Props) {
  const provider = providerOf(types, of);
  const type = credentialTypeOf(types, of);
  const label = provider?.label ?? of.provider;
  const verify = async (): Promise<void> => {
    if ((await verifyCredential(of.id)).isValid) onValid?.();
  };
  return (
    <Section title="Credential">
      {of.isValid === false ? (
        <Notice tone="bad" announced>
          <strong>{label} refuses this credential</strong>
          <p>{of.verificationError}</p>
        </Notice>
      ) : null}
      <Facts
        of={{
          Provider: label,
          Kind: type?.label ?? of.credentialType,
          State: <CredentialBadge of={of} />,
          'Last verified': <Time at={of.lastVerifiedAt} />,
          ...Object.fromEntries(
            Object.entries(of.hints).map(([field, value]) => [
              type?.fields.find((each) => each.name === field)?.label ?? field,
              <code key={field}>{value}</code>,
            ]),
          ),
        }}
      />
      <Trust of={of} label={label} />
      {provider ? <Policy of={provider} /> : null}
      <Row>
        <Action
          label="Verify now"
          busy={`Asking ${label}…`}
          kind={of.isValid ? 'normal' : 'primary'}
          act={verify}
        />
        <ReplaceSecrets of={of} type={type} {...(onValid ? { onValid } : {})} />
        {children}
      </Row>
    </Section>
  );
}

/** What makes the provider trust a credential. */
function Trust({ of, label }: { readonly of: Credential; readonly label: string }) {
  const setup = setupOf(of);
  if (setup === undefined) return null;
  return (
    <Stack>
      <p>Run this where you are signed in to {label}, so that it trusts this credential; then verify it:</p>
      <Copyable text={setup} label="Commands" />
      <Facts
        of={{
          'External ID': of.externalId ? <Copyable text={of.externalId} label="External ID" /> : null,
          Issuer: of.identity ? <Copyable text={of.identity.issuer} label="Issuer" /> : null,
          Subject: of.identity ? <Copyable text={of.identity.subject} label="Subject" /> : null,
        }}
      />
    </Stack>
  );
}
