import { $api, useAll } from '../../api';
import { ButtonLink, Loaded, Section } from '../../ui';
import { ResourceForm } from './resource-form';
import type { SetUpSearch } from './set-up-steps';
import type { ProviderTypes } from './types';
import { UseExisting } from './use-existing';
import { VerifyResource } from './verify-resource';

interface Props {
  readonly types: readonly ProviderTypes[];
  readonly credentialId: string;
  readonly id: string | undefined;
  readonly go: (to: SetUpSearch, replace?: boolean) => void;
}

/** A new resource, or one that is there; then whether the provider knows it. */
export function ResourceStep({ types, credentialId, id, go }: Props) {
  const credential = $api.useQuery('get', '/api/v1/credentials/{id}', {
    params: { path: { id: credentialId } },
  });
  const resources = useAll('/api/v1/resources');
  if (id !== undefined)
    return (
      <VerifyResource
        id={id}
        onVerified={() => go({ step: 'role' }, true)}
        next={
          <div>
            <ButtonLink
              kind="primary"
              to="/set-up"
              search={{ step: 'role', credential: credentialId, resource: id }}
            >
              Continue
            </ButtonLink>
          </div>
        }
      />
    );
  return (
    <Loaded query={resources}>
      {(existing) => (
        <Loaded query={credential}>
          {(loaded) => (
            <>
              <UseExisting
                what="resource"
                items={existing.filter((each) => each.credentialId === credentialId)}
                onUse={(chosen) => go({ step: chosen.isActive ? 'role' : 'resource', resource: chosen.id })}
              />
              <Section title="New resource">
                <p>What people get access to.</p>
                <ResourceForm
                  types={types}
                  credentials={[loaded]}
                  submit="Save and verify"
                  onDone={(made) => go({ resource: made.id })}
                />
              </Section>
            </>
          )}
        </Loaded>
      )}
    </Loaded>
  );
}
