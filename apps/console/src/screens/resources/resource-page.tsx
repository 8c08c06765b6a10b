import { getRouteApi, Link } from '@tanstack/react-router';
import { $api } from '../../api';
import { labelsText } from '../../parts/labels';
import { ProviderMessage } from '../../parts/provider-message';
import { ResourceBadge } from '../../parts/resource-columns';
import { RuleEvents } from '../../parts/rule-events';
import { Lines, sentence } from '../../parts/words';
import { providerOf, resourceTypeOf, useTypes, type ProviderTypes, type Resource } from '../../parts/types';
import { ButtonLink, Code, Facts, Loaded, Notice, Page, Section, Tabs } from '../../ui';
import { configText } from './fields';
import { ResourceGuard, ResourceHealth } from './resource-health';
import { ResourcePeople } from './resource-people';
import { ResourceRules } from './resource-rules';
import { ResourceSettings } from './resource-settings';
import { TABS } from './steps';

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

function Details({ of, types }: { of: Resource; types: readonly ProviderTypes[] }) {
  const { tab = 'rules' } = route.useSearch();
  const { id } = of;
  const provider = providerOf(types, of);
  const type = resourceTypeOf(types, of);
  return (
    <Page
      title={of.name}
      actions={
        <>
          <ButtonLink to="/report" search={{ resourceId: id }}>
            Access report
          </ButtonLink>
          <ButtonLink to="/audit" search={{ resourceId: id }}>
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
              <Lines>
                {[provider.label, type.label, of.region].filter(Boolean).join(', ')}
                <Code copied="Identifier">{of.resourceIdentifier}</Code>
              </Lines>
            ),
            Opens: configText(type, of.config) || null,
            'In use': of.room?.map(({ text }) => text).join('; '),
            'Connect to': of.endpoint,
            Account: [of.accountLabel, of.account].filter(Boolean).join(', ') || null,
            Credential: (
              <Link to="/credentials/$id" params={{ id: of.credentialId }}>
                {of.credentialName}
              </Link>
            ),
            'When access ends': type.revocation.words,
            Labels: labelsText(of) || null,
          }}
        />
        {of.verificationError ? (
          <Notice tone="bad">
            <ProviderMessage of={of.verificationError} />
          </Notice>
        ) : null}
      </Section>
      <Tabs label="Parts of the resource">
        {TABS.filter((each) => each !== 'guard' || provider.needsAgent).map((each) => (
          <Link key={each} to="." search={{ tab: each }} aria-current={each === tab ? 'page' : undefined}>
            {sentence(each)}
          </Link>
        ))}
      </Tabs>
      {tab === 'rules' ? <ResourceRules id={id} /> : null}
      {tab === 'people' ? <ResourcePeople id={id} /> : null}
      {tab === 'events' ? <RuleEvents of="resources" id={id} /> : null}
      {tab === 'health' ? <ResourceHealth id={id} /> : null}
      {tab === 'guard' ? <ResourceGuard of={of} /> : null}
      {tab === 'settings' ? <ResourceSettings of={of} types={types} /> : null}
    </Page>
  );
}
