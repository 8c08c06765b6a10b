import { getRouteApi } from '@tanstack/react-router';
import { useAll } from '../../api';
import { ButtonLink, Empty, Loaded, Page, Section } from '../../ui';
import { ResourceForm } from './resource-form';
import { useTypes } from './types';
import { VerifyResource } from './verify-resource';

const route = getRouteApi('/signed-in/administrator/resources/new');

/** A new resource; then whether its provider knows it. */
export function NewResource() {
  const { credential, resource } = route.useSearch();
  const navigate = route.useNavigate();
  const types = useTypes();
  const credentials = useAll('/api/v1/credentials');
  return (
    <Page title="New resource" lead="A target whose access rules Drawbridge manages.">
      <Section>
        {resource ? (
          <VerifyResource
            id={resource}
            next={
              <div>
                <ButtonLink kind="primary" to="/resources/$id" params={{ id: resource }}>
                  To the resource
                </ButtonLink>
              </div>
            }
          />
        ) : (
          <Loaded query={types}>
            {(loaded) => (
              <Loaded query={credentials}>
                {(all) =>
                  all.length === 0 ? (
                    <Empty title="A resource needs a credential first">
                      <ButtonLink to="/set-up">Set up access</ButtonLink>
                    </Empty>
                  ) : (
                    <ResourceForm
                      types={loaded}
                      credentials={all}
                      credentialId={credential}
                      submit="Save and verify"
                      onDone={({ id }) => void navigate({ search: { resource: id } })}
                    />
                  )
                }
              </Loaded>
            )}
          </Loaded>
        )}
      </Section>
    </Page>
  );
}
