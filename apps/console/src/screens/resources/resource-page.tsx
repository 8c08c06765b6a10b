import { getRouteApi, Link } from '@tanstack/react-router';
import { $api, type Schemas } from '../../api';
import { ButtonLink, Facts, Loaded, Notice, Page, Row, Section, Tabs } from '../../ui';
import { ResourceEvents } from './resource-events';
import { ResourceGuard } from './resource-guard';
import { ResourceHealth } from './resource-health';
import { ResourceRules } from './resource-rules';
import { ResourceSettings } from './resource-settings';
import { ResourceBadge } from './resource-state';
import { configText, providerOf, resourceTypeOf, useTypes, type ProviderTypes } from './types';

const route = getRouteApi('/signed-in/administrator/resources/$id');

/** One resource. What else there is of it is in tabs. */
export function ResourcePage() {
  const { id } = route.useParams();
  const resource = $api.useQuery('get', '/api/v1/resources/{id}', { params: { path: { id } } });
  return (
    <Loaded query={useTypes()}>
      {(types) => <Loaded query={resource}>{(loaded) => <Details of={loaded} types={types} />}</Loaded>}
    </Loaded>
  );
}

interface DetailsProps {
  readonly of: Schemas['ResourceDto'];
  readonly types: readonly ProviderTypes[];
}

function Details({ of, types }: DetailsProps) {
  const provider = providerOf(types, of);
  const type = resourceTypeOf(types, of);
  return (
    <Page
      title={of.name}
      actions={
        <>
          <ButtonLink to="/report" search={{ resourceId: of.id }}>
            Access report
          </ButtonLink>
          <ButtonLink to="/audit" search={{ resourceId: of.id }}>
            Audit trail
          </ButtonLink>
        </>
      }
    >
      <Section>
        <Facts
          of={{
            State: <ResourceBadge of={of} />,
            Target: (
              <Row>
                {[provider?.label, type?.label].filter(Boolean).join(', ')}
                <code>{of.resourceIdentifier}</code>
              </Row>
            ),
            Region: of.region,
            Opens: configText(type, of.config) || null,
            'Connect to': of.endpoint,
            Credential: (
              <Link to="/credentials/$id" params={{ id: of.credentialId }}>
                {of.credentialName}
              </Link>
            ),
            'When access ends': provider?.revocation.words,
          }}
        />
        {of.verificationError ? <Notice tone="bad">{of.verificationError}</Notice> : null}
      </Section>
      <Tabs label="Parts of the resource">
        <Link to="." search={{ tab: 'rules' }}>
          Rules
        </Link>
        <Link to="." search={{ tab: 'events' }}>
          Events
        </Link>
        <Link to="." search={{ tab: 'health' }}>
          Health
        </Link>
        {provider?.needsAgent ? (
          <Link to="." search={{ tab: 'guard' }}>
            Guard
          </Link>
        ) : null}
        <Link to="." search={{ tab: 'settings' }}>
          Settings
        </Link>
      </Tabs>
      <Tab of={of} types={types} />
    </Page>
  );
}

function Tab({ of, types }: DetailsProps) {
  const { tab, page } = route.useSearch();
  const paged = { id: of.id, page: page ?? 0 };
  if (tab === 'events') return <ResourceEvents {...paged} />;
  if (tab === 'health') return <ResourceHealth {...paged} />;
  if (tab === 'guard') return <ResourceGuard of={of} />;
  if (tab === 'settings') return <ResourceSettings of={of} types={types} />;
  return <ResourceRules {...paged} />;
}
