import { $api, useAll, type Schemas } from '../../api';
import { ButtonLink, Loaded, Notice, Row, Section } from '../../ui';
import { CredentialForm } from './credential-form';
import { CredentialRefusal, CredentialSetup, VerifyCredential } from './credential-state';
import { ReplaceSecrets } from './replace-secrets';
import type { SetUpSearch } from './set-up-steps';
import { credentialTypeOf, providerOf, type ProviderTypes } from './types';
import { UseExisting } from './use-existing';

interface Props {
  readonly types: readonly ProviderTypes[];
  readonly id: string | undefined;
  readonly go: (to: SetUpSearch, replace?: boolean) => void;
}

/** A new credential, or one that is there; then, unless it was accepted at once, what is missing. */
export function CredentialStep({ types, id, go }: Props) {
  const credentials = useAll('/api/v1/credentials');
  const onward = (chosen: Schemas['CredentialDto']): void =>
    go({ step: chosen.isValid ? 'resource' : 'credential', credential: chosen.id });
  if (id !== undefined)
    return <Check types={types} id={id} onValid={() => go({ step: 'resource', credential: id }, true)} />;
  return (
    <Loaded query={credentials}>
      {(all) => (
        <>
          <UseExisting what="credential" items={all} onUse={onward} />
          <Section title="New credential">
            <p>With it, Drawbridge adds and removes rules. It is encrypted and never shown again.</p>
            <CredentialForm types={types} onDone={onward} />
          </Section>
        </>
      )}
    </Loaded>
  );
}

interface CheckProps {
  readonly types: readonly ProviderTypes[];
  readonly id: string;
  readonly onValid: () => void;
}

function Check({ types, id, onValid }: CheckProps) {
  const credential = $api.useQuery('get', '/api/v1/credentials/{id}', { params: { path: { id } } });
  return (
    <Loaded query={credential}>
      {(of) => {
        const provider = providerOf(types, of);
        return (
          <Section title={`Credential ${of.name}`}>
            <CredentialRefusal of={of} provider={provider} />
            {of.isValid ? <Notice tone="good">{provider?.label} accepts it.</Notice> : null}
            <CredentialSetup of={of} provider={provider} />
            <Row>
              <VerifyCredential id={id} onValid={onValid} />
              <ReplaceSecrets of={of} type={credentialTypeOf(types, of)} onValid={onValid} />
              <ButtonLink
                to="/set-up"
                search={{ step: 'resource', credential: id }}
                kind={of.isValid ? 'primary' : 'plain'}
              >
                {of.isValid ? 'Continue' : 'Continue anyway'}
              </ButtonLink>
            </Row>
          </Section>
        );
      }}
    </Loaded>
  );
}
