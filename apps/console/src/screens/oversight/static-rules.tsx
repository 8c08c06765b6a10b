import { getRouteApi } from '@tanstack/react-router';
import { api, useAll, useList } from '../../api';
import {
  ButtonLink,
  DialogButton,
  Empty,
  Form,
  Loaded,
  Muted,
  Page,
  Pager,
  Picker,
  Section,
  TextField,
} from '../../ui';
import { StaticRuleTable } from './static-rule-table';

const route = getRouteApi('/signed-in/administrator/static-rules');
const PAGE_SIZE = 50;

/** Addresses and ranges that are let in for as long as their rule exists. */
export function StaticRules() {
  const { page = 0 } = route.useSearch();
  const rules = useList(
    '/api/v1/static-ip-rules',
    { query: { page, size: PAGE_SIZE } },
    { isUnsettled: ({ items }) => items.some(({ status }) => status === 'PENDING') },
  );
  return (
    <Page
      title="Static IP rules"
      lead="Addresses that are always let in, such as an office or a monitoring service. They do not end by themselves."
      actions={<Create kind="primary" />}
    >
      <Section>
        <Loaded query={rules}>
          {({ items, total }) => (
            <>
              <StaticRuleTable rules={items} empty={<NoRules />} />
              <Pager page={page} size={PAGE_SIZE} total={total} />
            </>
          )}
        </Loaded>
      </Section>
    </Page>
  );
}

const NoRules = () => (
  <Empty title="No address is always let in">
    <Muted>
      People need none: each opens access for the address they have. Add one for what stays where it is.
    </Muted>
    <Create kind="normal" />
  </Empty>
);

const Create = ({ kind }: { readonly kind: 'normal' | 'primary' }) => (
  <DialogButton label="Add a static IP rule" kind={kind} title="Let an address in, always">
    {(close) => <CreateForm onCancel={close} />}
  </DialogButton>
);

function CreateForm({ onCancel }: { readonly onCancel: () => void }) {
  const navigate = route.useNavigate();
  return (
    <Form
      submit="Let it in"
      onCancel={onCancel}
      send={async (entered) =>
        (
          await api.POST('/api/v1/static-ip-rules', {
            body: {
              label: entered.text('label'),
              ipAddress: entered.text('ipAddress'),
              resourceIds: entered.all('resourceIds'),
            },
          })
        ).data!
      }
      onDone={({ id }) => void navigate({ to: '/static-rules/$id', params: { id } })}
    >
      <TextField name="label" label="Name" maxLength={200} placeholder="Office Berlin" autoFocus />
      <TextField
        name="ipAddress"
        label="Address or range"
        placeholder="198.51.100.0/24"
        help="IPv4 or IPv6, or a range as CIDR. The address of a rule cannot be changed later."
      />
      <ResourcePicker />
    </Form>
  );
}

/** The resources that a static IP rule opens. */
export function ResourcePicker({ chosen }: { readonly chosen?: readonly string[] }) {
  const resources = useAll('/api/v1/resources');
  return (
    <Loaded query={resources}>
      {(all) => (
        <Picker
          name="resourceIds"
          label="Resources"
          {...(chosen ? { chosen } : {})}
          choices={all.map(({ id, name, resourceIdentifier, isActive }) => ({
            value: id,
            text: name,
            detail: `${resourceIdentifier}${isActive ? '' : ', not verified yet'}`,
          }))}
          empty={<ButtonLink to="/resources">Add a resource first</ButtonLink>}
        />
      )}
    </Loaded>
  );
}
