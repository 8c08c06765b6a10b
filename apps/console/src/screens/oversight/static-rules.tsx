import { getRouteApi } from '@tanstack/react-router';
import { Fragment } from 'react';
import { $api, api, live, type Schemas } from '../../api';
import { ResourcePicker } from '../../parts/choosing';
import { CollectionScreen } from '../../parts/collection';
import { useEdit } from '../../parts/edits';
import { RESOURCE, statusFilter, type Filter } from '../../parts/filters';
import { ProviderMessage } from '../../parts/provider-message';
import { STATUS } from '../../parts/sessions';
import { Lines, ResourceLink, StaticRuleLink } from '../../parts/words';
import { Action, Badge, ButtonLink, ConfirmButton, Empty, Facts, Form, FormButton, Loaded } from '../../ui';
import { Muted, Page, Row, Section, Table, TextField, Time, type Column } from '../../ui';
import { Code, fromLocalField, toLocalField, zoneName, type Entered } from '../../ui';

type Rule = Schemas['StaticIpRuleDto'];

const route = getRouteApi('/signed-in/administrator/static-rules');
const ruleRoute = getRouteApi('/signed-in/administrator/static-rules/$id');

const { PENDING, ACTIVE, PARTIAL, FAILED, EXPIRED } = STATUS;
const STATE: Readonly<Record<Rule['status'], (typeof STATUS)['ACTIVE']>> = {
  PENDING,
  ACTIVE,
  PARTIAL,
  FAILED,
  EXPIRED,
  CLOSED: ['Closed by the lockdown', 'warn'],
};

const isPending = ({ status }: Rule): boolean => status === 'PENDING';
const idsOf = ({ resources }: Rule): string[] => resources.map(({ resourceId }) => resourceId);

const FILTERS: readonly Filter[] = [
  statusFilter(STATE),
  RESOURCE,
  { name: 'contains', label: 'Lets in', placeholder: '198.51.100.7' },
];

/** Addresses and ranges that are let in until their rule is deleted, or its end. */
export const StaticRules = () => (
  <CollectionScreen
    title="Static IP rules"
    lead="Addresses that are always let in, such as an office or a monitoring service. They end when you delete them, or at the end that you give them."
    create={<Create />}
    caption="Static IP rules"
    path="/api/v1/static-ip-rules"
    columns={COLUMNS}
    search="name, address, creator"
    filters={FILTERS}
    sort="-createdAt"
    isUnsettled={isPending}
    empty={<NoRules />}
  />
);

const NoRules = () => (
  <Empty title="No address is always let in">
    <Muted>Add one for what stays where it is. People open access for the address they have.</Muted>
  </Empty>
);

const COLUMNS: readonly Column<Rule>[] = [
  {
    head: 'Name',
    sort: 'label',
    cell: ({ id, label }) => <StaticRuleLink id={id}>{label}</StaticRuleLink>,
  },
  { head: 'Address', cell: ({ ipAddress }) => <Code>{ipAddress}</Code> },
  { head: 'To', cell: (rule) => <Resources of={rule} /> },
  { head: 'State', cell: (rule) => <State of={rule} /> },
  { head: 'Ends', cell: ({ expiresAt }) => <Time at={expiresAt} none="no end" /> },
  { head: 'Added', sort: 'createdAt', cell: (rule) => <Added rule={rule} /> },
];

/** Static IP rules with the state on each of their resources. */
export const StaticRuleTable = ({ rules }: { rules: readonly Rule[] }) => (
  <Table caption="Static IP rules" columns={COLUMNS} rows={rules} keyOf={({ id }) => id} empty={null} />
);

const State = ({ of: { status } }: { of: Rule }) => <Badge tone={STATE[status][1]}>{STATE[status][0]}</Badge>;

const Added = ({ rule: { createdAt, createdByEmail } }: { rule: Rule }) => (
  <Lines>
    <Time at={createdAt} />
    <Muted>by {createdByEmail}</Muted>
  </Lines>
);

/** Where it is not open comes first, each with the reason. */
function Resources({ of: { resources, closedOn } }: { of: Rule }) {
  const open = resources.filter(({ status }) => status === 'APPLIED');
  return (
    <Lines>
      {resources.map((entry) =>
        entry.status === 'APPLIED' ? null : (
          <Lines key={entry.resourceId}>
            <span>
              <ResourceLink id={entry.resourceId}>{entry.resourceName}</ResourceLink>{' '}
              <Badge tone={entry.status === 'FAILED' ? 'bad' : 'busy'}>
                {entry.status === 'FAILED' ? 'refused' : 'opening'}
              </Badge>
            </span>
            {entry.errorMessage === null ? null : <ProviderMessage of={entry.errorMessage} />}
          </Lines>
        ),
      )}
      <span>
        {open.map((entry, index) => (
          <Fragment key={entry.resourceId}>
            {index === 0 ? '' : ', '}
            <ResourceLink id={entry.resourceId}>{entry.resourceName}</ResourceLink>
          </Fragment>
        ))}
        {closedOn.length > 0 ? <Muted>closed; opens again on {namesOf(closedOn)}</Muted> : null}
      </span>
    </Lines>
  );
}

const namesOf = (entries: readonly { readonly resourceName: string }[]): string =>
  entries.map(({ resourceName }) => resourceName).join(', ');

function Create() {
  const navigate = route.useNavigate();
  return (
    <FormButton
      label="Add a static IP rule"
      kind="primary"
      title="Let an address in, always"
      submit="Let it in"
      send={async (entered) => {
        const [label, ipAddress] = [entered.text('label'), entered.text('ipAddress')];
        const body = {
          label,
          ipAddress,
          resourceIds: entered.all('resourceIds'),
          expiresAt: endIn(entered),
        };
        return (await api.POST('/api/v1/static-ip-rules', { body })).data!;
      }}
      onDone={({ id }) => void navigate({ to: '/static-rules/$id', params: { id } })}
    >
      <TextField name="label" label="Name" maxLength={200} placeholder="Office Berlin" autoFocus />
      <TextField
        name="ipAddress"
        label="Address or range"
        placeholder="198.51.100.0/24"
        help="IPv4 or IPv6, or a range as CIDR. The address of a rule cannot be changed later."
      />
      <ResourcePicker empty={<ButtonLink to="/resources">Add a resource first</ButtonLink>} />
      <EndField />
    </FormButton>
  );
}

const EndField = ({ at = null }: { at?: string | null }) => (
  <TextField
    name="expiresAt"
    label="Ends"
    type="datetime-local"
    required={false}
    help={`In ${zoneName()}. Empty: it has no end.`}
    defaultValue={toLocalField(at ?? undefined)}
  />
);

const endIn = (entered: Entered): string | null => fromLocalField(entered.text('expiresAt')) ?? null;

export function StaticRule() {
  const { id } = ruleRoute.useParams();
  const path = { id };
  const rule = $api.useQuery('get', '/api/v1/static-ip-rules/{id}', { params: { path } }, live(isPending));
  return (
    <Loaded query={rule}>
      {(shown) => (
        <Page
          title={shown.label}
          actions={
            <Row>
              <ButtonLink to="/audit" search={{ resourceId: id }}>
                Audit trail
              </ButtonLink>
              <Delete rule={shown} />
            </Row>
          }
        >
          <Section title="Always let in">
            <Facts
              of={{
                Address: <Code copied="Address">{shown.ipAddress}</Code>,
                State: <State of={shown} />,
                Resources: <Resources of={shown} />,
                Ends: <Time at={shown.expiresAt} none="no end" />,
                Added: <Added rule={shown} />,
              }}
            />
            {shown.status === 'EXPIRED' ? (
              <Muted>Give it a later end to let it in again. It is deleted 90 days after its end.</Muted>
            ) : null}
            {shown.resources.some(({ status }) => status === 'FAILED') ? (
              <Row>
                <Action
                  label="Try what failed again"
                  act={() => change(shown, { resourceIds: idsOf(shown) })}
                />
              </Row>
            ) : null}
          </Section>
          <Section title="Change">
            {/* what is being entered stays while the rule is read again */}
            <Change key={id} rule={shown} />
          </Section>
        </Page>
      )}
    </Loaded>
  );
}

/** An end is entered to the minute. */
const editable = (rule: Rule) => ({
  label: rule.label,
  resourceIds: idsOf(rule),
  expiresAt: fromLocalField(toLocalField(rule.expiresAt ?? undefined)) ?? null,
});

const change = ({ id }: Rule, body: Schemas['UpdateStaticIpRuleDto']) =>
  api.PATCH('/api/v1/static-ip-rules/{id}', { params: { path: { id } }, body });

function Change({ rule }: { rule: Rule }) {
  const params = { path: { id: rule.id } };
  const edit = useEdit(editable(rule), async () => {
    const { data } = await api.GET('/api/v1/static-ip-rules/{id}', { params });
    return { data: editable(data!) };
  });
  return (
    <Form
      submit="Save"
      done="Saved. Resources that you took away are being closed."
      send={(entered) =>
        edit(
          {
            label: entered.text('label'),
            resourceIds: entered.all('resourceIds'),
            expiresAt: endIn(entered),
          },
          async (body) => ({ data: editable((await change(rule, body)).data!) }),
        )
      }
    >
      <TextField name="label" label="Name" maxLength={200} defaultValue={rule.label} />
      <ResourcePicker chosen={idsOf(rule)} />
      <EndField at={rule.expiresAt} />
    </Form>
  );
}

function Delete({ rule: { id, label, ipAddress, resources } }: { rule: Rule }) {
  const navigate = ruleRoute.useNavigate();
  return (
    <ConfirmButton
      label="Delete"
      title={`Delete “${label}”?`}
      ends={{ meanwhile: 'Until then, or until the end of the rule, the address stays let in.' }}
      act={(_, signal) => api.DELETE('/api/v1/static-ip-rules/{id}', { params: { path: { id } }, signal })}
      onDone={() => navigate({ to: '/static-rules' })}
    >
      <p>
        This closes <Code>{ipAddress}</Code> on {resources.map(({ resourceName }) => resourceName).join(', ')}
        , unless something else keeps it open.
      </p>
    </ConfirmButton>
  );
}
