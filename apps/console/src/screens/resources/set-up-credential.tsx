import { $api, useAll, type Schemas } from '../../api';
import { ButtonLink, Form, Loaded, Notice, Row, Section } from '../../ui';
import { CredentialFields } from './credential-fields';
import { CredentialForm, replaceFields } from './credential-form';
import { CredentialRefusal, CredentialSetup, VerifyCredential } from './credential-state';
import type { SetUpSearch } from './set-up-steps';
import { credentialTypeOf, providerOf, type ProviderTypes } from './types';
import { UseExisting } from './use-existing';

interface Props {
  readonly types: readonly ProviderTypes[];
  readonly id: string | undefined;
  readonly go: (to: SetUpSearch, replace?: boolean) => void;
}

type Credential = Schemas['CredentialDto'];

/** A new credential, or one that is there; then, unless it was accepted at once, what is missing. */
export function CredentialStep({ types, id, go }: Props) {
  const credentials = useAll('/api/v1/credentials');
  const onward = (chosen: Credential): void =>
    go({ step: chosen.isValid ? 'resource' : 'credential', credential: chosen.id });
  if (id !== undefined) return <Check types={types} id={id} go={go} />;
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

function Check({ types, id, go }: Props & { readonly id: string }) {
  const credential = $api.useQuery('get', '/api/v1/credentials/{id}', { params: { path: { id } } });
  return (
    <Loaded query={credential}>
      {(of) => {
        const provider = providerOf(types, of);
        return (
          <>
            <Section title={of.name}>
              <CredentialRefusal of={of} provider={provider} />
              {of.isValid ? <Notice tone="good">{provider?.label} accepts it.</Notice> : null}
              <CredentialSetup of={of} provider={provider} />
              <Row>
                <VerifyCredential
                  id={id}
                  kind={of.isValid ? 'normal' : 'primary'}
                  onValid={() => go({ step: 'resource' }, true)}
                />
                <ButtonLink
                  to="/set-up"
                  search={{ step: 'resource', credential: id }}
                  kind={of.isValid ? 'primary' : 'plain'}
                >
                  {of.isValid ? 'Continue' : 'Continue without'}
                </ButtonLink>
              </Row>
            </Section>
            {of.isValid === false ? (
              <Correct of={of} types={types} onValid={() => go({ step: 'resource' }, true)} />
            ) : null}
          </>
        );
      }}
    </Loaded>
  );
}

interface CorrectProps {
  readonly of: Credential;
  readonly types: readonly ProviderTypes[];
  readonly onValid: () => void;
}

function Correct({ of, types, onValid }: CorrectProps) {
  const type = credentialTypeOf(types, of);
  if (!type || type.fields.length === 0) return null;
  return (
    <Section title="Correct what was entered">
      <Form
        submit="Save and verify"
        busy="Asking the provider…"
        send={(entered) => replaceFields(of.id, entered, type)}
        onDone={({ isValid }) => (isValid ? onValid() : undefined)}
      >
        <CredentialFields type={type} hints={of.hints} />
      </Form>
    </Section>
  );
}
