import { Link } from '@tanstack/react-router';
import { useList, type Schemas } from '../../api';
import { Badge, ButtonLink, Empty, Muted, Time } from '../../ui';
import { Listed, PAGE_SIZE } from './parts';

export type Trust = Schemas['OidcTrustDto'];

export const PRESETS: Readonly<Record<Trust['preset'], string>> = {
  GITHUB: 'GitHub Actions',
  GITLAB: 'GitLab CI',
  BUILDKITE: 'Buildkite',
  CUSTOM: 'Another system',
};

/** The trusts of CI jobs. */
export const Trusts = ({ page }: { readonly page: number }) => (
  <Listed
    caption="CI trusts"
    query={useList('/api/v1/oidc-trusts', { query: { page, size: PAGE_SIZE } })}
    page={page}
    columns={[
      {
        head: 'Name',
        cell: ({ id, name }) => (
          <Link to="/automation/trusts/$id" params={{ id }}>
            {name}
          </Link>
        ),
      },
      { head: 'System', cell: ({ preset }) => PRESETS[preset] },
      {
        head: 'Conditions',
        cell: ({ conditions }) => <Muted>{conditionLines(conditions).join(', ')}</Muted>,
      },
      { head: 'Status', cell: (trust) => <TrustStatus of={trust} /> },
      { head: 'Last used', cell: ({ lastUsedAt }) => <Time at={lastUsedAt} /> },
    ]}
    empty={
      <Empty title="No CI system is trusted yet.">
        <p>With a trust, jobs of GitHub Actions, GitLab and Buildkite need no stored key.</p>
        <ButtonLink to="/automation/trusts/new">Create a trust</ButtonLink>
      </Empty>
    }
  />
);

/** Whether jobs are let in, and whether too many are. */
export const TrustStatus = ({ of: { isEnabled, isServiceUserActive, warnings } }: { readonly of: Trust }) => (
  <>
    {isEnabled ? null : <Badge>Disabled</Badge>}
    {isServiceUserActive ? null : <Badge tone="warn">Its service user is inactive</Badge>}
    {isEnabled && isServiceUserActive ? <Badge tone="good">Enabled</Badge> : null}{' '}
    {warnings.length > 0 ? <Badge tone="warn">Lets in too much</Badge> : null}
  </>
);

/** Conditions as they are typed: a claim and an allowed value on each line. */
export const conditionLines = (conditions: Trust['conditions']): string[] =>
  Object.entries(conditions).flatMap(([claim, values]) => values.map((value) => `${claim}=${value}`));

/** @param lines as `conditionLines` has them; several values of one claim are alternatives */
export function conditionsOf(lines: string): Trust['conditions'] {
  const conditions: Trust['conditions'] = {};
  for (const line of lines.split('\n').filter((each) => each.trim() !== '')) {
    const [claim = '', ...value] = line.split('=');
    (conditions[claim.trim()] ??= []).push(value.join('=').trim());
  }
  return conditions;
}
