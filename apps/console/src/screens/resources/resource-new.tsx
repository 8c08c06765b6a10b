import { getRouteApi } from '@tanstack/react-router';
import { useAll } from '../../api';
import { ButtonLink, Loaded, Page, Section } from '../../ui';
import { FirstRun } from './list-screen';
import { ResourceForm } from './resource-form';
import { useTypes } from './types';
import { VerifyResource } from './verify-resource';

const route = getRouteApi('/signed-in/administrator/resources/new');

/** A new resource; then whether its provider knows it. */
export function NewResource() {
  const { credential, resource } = route.useSearch();
  return (
    <Page title="New resource" lead="A target whose access rules Drawbridge manages.">
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
        <Section>
          <Make credential={credential} />
        </Section>
      )}
    </Page>
  );
}

function Make({ credential }: { readonly credential: string | undefined }) {
  const navigate = route.useNavigate();
  const types = useTypes();
  const credentials = useAll('/api/v1/credentials');
  return (
    <Loaded query={types}>
      {(loaded) => (
        <Loaded query={credentials}>
          {(all) =>
            all.length === 0 ? (
              <FirstRun what="credential" />
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
  );
}
